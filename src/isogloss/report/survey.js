function survey({ titles, names, values, others: [others, grey], palette, tasks, distances, tail: [times, roots], boxes, shares, apart }) {
  const chosen = {};
  const drawDistribution = redrawn("survey-chart");
  const drawDistances = redrawn("distance-chart");
  const KEYS = ["task", "attribute"];

  function choose(wanted) {
    const offered = Object.keys(tasks).map((task) => [task, task]);
    if (offered.length > 1) offered.unshift(["", "all tasks"]);
    chosen.task = offer(byId("choose-survey-task"), offered, [wanted.task, chosen.task], (found) => found.at(-Object.keys(tasks).length));
    // What only one task has cannot be compared between tasks.
    const having = (attribute) => Object.values(tasks).filter((task) => attribute in task).length;
    const attributes = chosen.task ? Object.keys(tasks[chosen.task]) : Object.keys(titles).filter((one) => having(one) > 1);
    chosen.attribute = offer(byId("choose-survey-attribute"), attributes.map((one) => [one, `${one}: ${titles[one]}`]),
      [wanted.attribute, chosen.attribute], (found) => found[0]);
    show();
  }
  function show() {
    const { task, attribute } = chosen;
    const shown = Object.entries(tasks).filter(([name, found]) => (task ? name === task : attribute in found));
    const discrete = attribute in values;
    let cells = shown.flatMap(([name, found]) => Object.entries(found[attribute]).map(([language, [n, ...numbers]]) =>
      [{ task: name, language, name: names[language], n }, numbers]));
    const columns = discrete ? named(cells) : ["mean", "minimum", "25 %", "median", "75 %", "maximum"];
    if (discrete) cells = cells.map(([place, numbers]) => [place, divided(place.task, numbers, columns)]);
    const spec = structuredClone(discrete ? shares : boxes);
    spec.data.values = cells.flatMap(([place, numbers]) => (discrete
      ? numbers.map((share, at) => ({ ...place, value: columns[at], place: at, share })).filter(({ share }) => share > 0)
      : box(place, numbers)));
    if (discrete) {
      const range = columns.map((value, at) => (value === others ? grey : palette[at]));
      spec.spec.encoding.color.scale = { domain: columns, range };
    } else stretch(spec);
    if (shown.length > 1) spec.spec.width = 220;
    drawDistribution(`data-${task || "all"}-${attribute}`, spec);
    table(cells, columns, discrete);
    far(task, attribute, discrete);
  }
  // The values with a colour; of several tasks, those that are the most frequent over all of them.
  function named(cells) {
    const sums = new Map();
    let rest = 0;
    for (const [{ task }, numbers] of cells) {
      values[chosen.attribute][task].forEach((value, at) => sums.set(value || "(none)", (sums.get(value || "(none)") ?? 0) + numbers[at]));
      rest = Math.max(rest, left(numbers));
    }
    const order = [...sums].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    if (order.length > palette.length) return [...order.slice(0, palette.length - 1), others];
    return rest ? [...order, others] : order;
  }
  // Shares are rounded: what is left of them may be nothing.
  const left = (numbers) => { const rest = 1 - numbers.reduce((sum, share) => sum + share, 0); return rest > 0.005 ? rest : 0; };
  function divided(task, numbers, columns) {
    const found = Object.fromEntries(values[chosen.attribute][task].map((value, at) => [value || "(none)", numbers[at]]));
    const shares = columns.map((value) => (value === others ? 0 : found[value] ?? 0));
    return columns.map((value, at) => (value === others ? left(shares) : shares[at]));
  }
  function stretch(spec) {
    const largest = (key) => Math.max(...spec.data.values.map((record) => record[key]));
    if (largest("most") > times * largest("upper")) for (const layer of spec.spec.layer) Object.assign(layer.encoding.x, roots);
  }
  function table(cells, columns, discrete) {
    const heads = ["task", "language", "n", ...columns].map((text, place) => {
      const head = element("th", "", { scope: "col", ...(place > 1 && { class: "number" }) });
      head.append(element("button", text, { type: "button", dir: "auto" }));
      return head;
    });
    const body = byId("survey-rows");
    body.closest("table").tHead.rows[0].replaceChildren(...heads);
    const text = (number) => (discrete ? `${(100 * number).toFixed(1)} %` : String(number));
    body.replaceChildren(...cells.map(([place, numbers]) => {
      const made = row([element("td", place.task), element("td", place.name), ...figures(place.n.toLocaleString("en"), ...numbers.map(text))],
        { "data-language": place.language });
      made.hidden = kept !== null && !kept.includes(place.language);
      return made;
    }));
  }
  const box = (place, [mean, least, lower, median, upper, most]) =>
    (most === undefined ? [] : [{ ...place, mean, least, lower, median, upper, most }]);
  function far(task, attribute, discrete) {
    const found = distances[task]?.[attribute];
    byId("distance-title").textContent = found
      ? `Distances between languages: ${found[0]}, ${discrete ? "0 to 1" : "in the unit of the attribute"}` : "";
    byId("distance-says").textContent = found ? "" : task ? "One language has no distances." : "Choose one task to see how far its languages are apart.";
    if (!found) { drawDistances("", null); return; }
    const [, languages, unit, above, withinNoise] = found;
    const pairs = above.flatMap((row, one) => row.map((far, step) =>
      [languages[one], languages[one + 1 + step], Number((far * unit).toPrecision(3))]));
    const records = pairs.flatMap(([one, two, score]) => [[one, two], [two, one]].map(([language, other]) =>
      ({ language, name: names[language], other: names[other], score })));
    const [one, two, most] = pairs.reduce((best, pair) => (pair[2] > best[2] ? pair : best));
    const noise = withinNoise ? ` Pairs that are no further apart than chance makes: ${withinNoise} of ${pairs.length}.` : "";
    byId("distance-says").textContent = most ? `Farthest apart: ${names[one]} and ${names[two]} (${most}).${noise}` : "All languages are alike.";
    const spec = structuredClone(apart);
    const order = languages.map((code) => names[code]).sort();
    spec.data.values = records;
    spec.encoding.x.sort = spec.encoding.y.sort = order;
    spec.layer[0].encoding.color.scale.domain = [0, most || 1];
    spec.layer[1].encoding.color.condition.test = `datum.score > ${0.58 * (most || 1)}`;
    drawDistances(`distance-${task}-${attribute}`, spec);
  }
  const follow = () => {
    const [section, ...path] = location.hash.slice(1).split("/");
    if (section !== "survey" || !path.length) return;
    choose(Object.fromEntries(path.map((word, place) => [KEYS[place], decodeURIComponent(word)])));
    byId("survey").scrollIntoView();
  };
  for (const key of KEYS)
    byId(`choose-survey-${key}`).addEventListener("change", (event) => choose({ ...chosen, [key]: event.target.value }));
  addEventListener("hashchange", follow);
  choose({});
  follow();
}
