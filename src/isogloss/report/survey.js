const SURVEY_KEYS = ["task", "attribute"];
const NUMBER_COLUMNS = ["mean", "minimum", "25 %", "median", "75 %", "maximum"];
// Shares are rounded: what is left of them may be nothing.
const leftOf = (numbers) => { const rest = 1 - numbers.reduce((sum, share) => sum + share, 0); return rest > 0.005 ? rest : 0; };

// What the examples are like along an attribute, by language, and how far the languages of a task are apart.
class SurveySection {
  constructor(found) {
    Object.assign(this, found, { chosen: {}, drawDistribution: redrawn("survey-chart"), drawDistances: redrawn("distance-chart") });
    followChoices("survey", SURVEY_KEYS, "choose-survey-", this);
  }
  choose(wanted) {
    const { tasks, titles, chosen } = this;
    const offered = Object.keys(tasks).map((task) => [task, task]);
    if (offered.length > 1) offered.unshift(["", "all tasks"]);
    chosen.task = offer(byId("choose-survey-task"), offered, [wanted.task, chosen.task], (found) => found.at(-Object.keys(tasks).length));
    // What only one task has cannot be compared between tasks.
    const having = (attribute) => Object.values(tasks).filter((task) => attribute in task).length;
    const attributes = chosen.task ? Object.keys(tasks[chosen.task]) : Object.keys(titles).filter((one) => having(one) > 1);
    chosen.attribute = offer(byId("choose-survey-attribute"), attributes.map((one) => [one, `${one}: ${titles[one]}`]),
      [wanted.attribute, chosen.attribute], (found) => found[0]);
    this.show();
  }
  show() {
    const { task, attribute } = this.chosen;
    const shown = Object.entries(this.tasks).filter(([name, found]) => (task ? name === task : attribute in found));
    const discrete = attribute in this.values;
    const found = shown.flatMap(([name, attributes]) => Object.entries(attributes[attribute]).map(([language, [n, ...numbers]]) =>
      [{ task: name, language, name: this.names[language], n }, numbers]));
    const columns = discrete ? this.valueColumns(found) : NUMBER_COLUMNS;
    const cells = discrete ? found.map(([place, numbers]) => [place, this.divided(place.task, numbers, columns)]) : found;
    const spec = discrete ? this.shareChart(cells, columns) : this.boxChart(cells);
    if (shown.length > 1) spec.spec.width = 220;
    this.drawDistribution(`data-${task || "all"}-${attribute}`, spec);
    this.showRows(cells, columns, discrete);
    this.showDistances(discrete);
  }
  // The values with a colour; of several tasks, those that are the most frequent over all of them.
  valueColumns(cells) {
    const { palette } = this;
    const [others] = this.others;
    const sums = new Map();
    let rest = 0;
    for (const [{ task }, numbers] of cells) {
      this.valueNames(task).forEach((value, at) => sums.set(value, (sums.get(value) ?? 0) + numbers[at]));
      rest = Math.max(rest, leftOf(numbers));
    }
    const order = [...sums].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    if (order.length > palette.length) return [...order.slice(0, palette.length - 1), others];
    return rest ? [...order, others] : order;
  }
  valueNames(task) {
    return this.values[this.chosen.attribute][task].map((value) => value || "(none)");
  }
  // The shares of a cell in the columns; what has none of its own is in that of the others.
  divided(task, numbers, columns) {
    const [others] = this.others;
    const found = Object.fromEntries(this.valueNames(task).map((value, at) => [value, numbers[at]]));
    const shares = columns.map((value) => (value === others ? 0 : found[value] ?? 0));
    return columns.map((value, at) => (value === others ? leftOf(shares) : shares[at]));
  }
  shareChart(cells, columns) {
    const [others, grey] = this.others;
    const spec = structuredClone(this.shares);
    spec.data.values = cells.flatMap(([place, numbers]) =>
      numbers.map((share, at) => ({ ...place, value: columns[at], place: at, share })).filter(({ share }) => share > 0));
    const range = columns.map((value, at) => (value === others ? grey : this.palette[at]));
    spec.spec.encoding.color.scale = { domain: columns, range };
    return spec;
  }
  boxChart(cells) {
    const [times, roots] = this.tail;
    const spec = structuredClone(this.boxes);
    spec.data.values = cells.filter(([, numbers]) => numbers.length === NUMBER_COLUMNS.length)
      .map(([place, [mean, least, lower, median, upper, most]]) => ({ ...place, mean, least, lower, median, upper, most }));
    const largest = (key) => Math.max(...spec.data.values.map((record) => record[key]));
    if (largest("most") > times * largest("upper")) for (const layer of spec.spec.layer) Object.assign(layer.encoding.x, roots);
    return spec;
  }
  showRows(cells, columns, discrete) {
    const heads = ["task", "language", "n", ...columns].map((text, place) => {
      const head = element("th", "", { scope: "col", ...(place > 1 && { class: "number" }) });
      head.append(element("button", text, { type: "button", dir: "auto" }));
      return head;
    });
    const body = byId("survey-rows");
    body.closest("table").tHead.rows[0].replaceChildren(...heads);
    const text = (number) => (discrete ? `${(100 * number).toFixed(1)} %` : String(number));
    body.replaceChildren(...cells.map(([{ task, name, n, language }, numbers]) =>
      languageRow([element("td", task), element("td", name), ...figures(n.toLocaleString("en"), ...numbers.map(text))], language)));
  }
  showDistances(discrete) {
    const { task, attribute } = this.chosen;
    const found = this.distances[task]?.[attribute];
    byId("distance-title").textContent = found
      ? `Distances between languages: ${found[0]}, ${discrete ? "0 to 1" : "in the unit of the attribute"}` : "";
    if (!found) {
      byId("distance-says").textContent = task ? "One language has no distances." : "Choose one task to see how far its languages are apart.";
      this.drawDistances("", null);
      return;
    }
    const [, languages, unit, above, withinNoise] = found;
    const pairs = above.flatMap((row, one) => row.map((far, step) =>
      [languages[one], languages[one + 1 + step], Number((far * unit).toPrecision(3))]));
    const [one, two, most] = pairs.reduce((best, pair) => (pair[2] > best[2] ? pair : best));
    const noise = withinNoise ? ` Pairs that are no further apart than chance makes: ${withinNoise} of ${pairs.length}.` : "";
    byId("distance-says").textContent = most ? `Farthest apart: ${this.names[one]} and ${this.names[two]} (${most}).${noise}` : "All languages are alike.";
    this.drawDistances(`distance-${task}-${attribute}`, this.distanceChart(languages, pairs, most || 1));
  }
  distanceChart(languages, pairs, most) {
    const { names } = this;
    const spec = structuredClone(this.apart);
    spec.data.values = pairs.flatMap(([one, two, score]) => [[one, two], [two, one]].map(([language, other]) =>
      ({ language, name: names[language], other: names[other], score })));
    spec.encoding.x.sort = spec.encoding.y.sort = languages.map((code) => names[code]).sort();
    spec.layer[0].encoding.color.scale.domain = [0, most];
    spec.layer[1].encoding.color.condition.test = `datum.score > ${0.58 * most}`;
    return spec;
  }
}
