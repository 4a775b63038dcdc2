import { attributeTitle } from "./attribute_title.js";
import { languageName, taskName } from "../board/decode.js";
import { exampleItem, listedText, scoredName, showExamples } from "./example_list.js";
import { listedExamples } from "./live_buckets.js";

const WORST_FIRST = "worst first";
const MOST_APART = "largest differences first";

/** @typedef {{ board: Board, systems: System[], task: string, language: string }} ExampleContext */
/** @typedef {{ name: string, edges: string, at?: number }} ListedBucket */

/** @param {ExampleContext} options @param {string} attribute @param {ListedBucket} options2 */
const heading = ({ board, task, language }, attribute, { name, edges }) =>
  `${taskName(board, task)}, ${languageName(board, language)}. ${attributeTitle(attribute)}: ${name}${edges ? ` ${edges}` : ""}`;

// List a bucket's examples from the results of single examples; `codes` are the buckets of the rows.
/**
 * @param {ExampleContext} about
 * @param {LiveCell} live
 * @param {Metric[]} metrics
 * @param {string} attribute its title
 * @param {Uint16Array} codes
 * @param {ListedBucket} bucket
 */
export function listLive(about, live, metrics, attribute, codes, bucket) {
  const { systems, language } = about;
  const { examples } = live;
  const { shown, total } = listedExamples(live, metrics, codes, bucket.at ?? 0);
  const items = shown.map(({ example, scores }) => {
    const text = examples.texts[example];
    const names = systems.map(({ fullName }, at) => scoredName(fullName, scores[at]));
    const pairs = text
      ? [
          ...Object.entries(text.inputs),
          ["gold", text.gold],
          ...names.map((name, at) => [name, live.systems[at].answers[example] ?? ""]),
        ]
      : [[names.join(", "), "(text not available)"]];
    return exampleItem(examples.ids[example], pairs, text ? language : "en");
  });
  const order = systems.length > 1 ? MOST_APART : WORST_FIRST;
  showExamples(heading(about, attribute, bucket), listedText(items.length, total, order), items);
}

// List the examples that isogloss explain quoted for a bucket.
/** @param {AnalysisContext} about @param {Chart} chart @param {BucketBar} bucket */
export function listBuilt(about, chart, bucket) {
  const { systems, details } = about;
  const cell = `${chart.task}/${chart.language}`;
  const bySystem = details.map((detail) => detail?.analyses?.examples?.[cell] ?? {});
  const items = (bucket.ids ?? []).map((id) => {
    const example = bySystem.map((examples) => examples[id]).find(Boolean);
    const answers = systems.flatMap(({ fullName }, at) => {
      const own = bySystem[at]?.[id];
      return own ? [[scoredName(fullName, own.score), own.answer]] : [];
    });
    const pairs = example ? [...Object.entries(example.inputs), ["gold", example.gold], ...answers] : [];
    return exampleItem(id, pairs, chart.language);
  });
  showExamples(heading(about, chart.title, bucket), listedText(items.length, bucket.n, WORST_FIRST), items);
}
