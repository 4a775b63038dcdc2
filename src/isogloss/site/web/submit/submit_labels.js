// Labels, hints and groups of the fields of a submission. Fields of a newer schema keep its descriptions.

/** @type {Record<string, string>} */
export const GROUPS = {
  system: "System",
  size: "Size",
  training: "Training data",
  release: "Release",
  setup: "Set-up",
  evaluation: "Evaluation",
};

/** @type {Record<string, [string, string, string]>} */
export const LABELS = {
  name: ["Name", "The name to show on the board", "system"],
  kind: ["Kind of system", "", "system"],
  regime: ["Transfer setting", "What the system learnt the tasks from, such as zero-shot or translate-train", "system"],
  year: ["Year", "When the system was made", "system"],
  authors: ["Authors", "Shown on the board; anonymous is possible", "system"],
  paper: ["Paper", "A citation or a link", "system"],
  contact: ["Contact address", "For questions; not published", "system"],
  parameters: ["Model size (millions of parameters)", "All parameters: 559.9 for 559,900,000", "size"],
  parameters_active: ["Active parameters (millions)", "Used per token; the same as the size unless experts are mixed", "size"],
  pretraining_tokens: ["Pre-training data (tokens)", "Monolingual tokens seen, repetitions included", "training"],
  parallel_data: ["Parallel data in pre-training", "“no”, “yes”, or which and how much", "training"],
  fine_tuning_data: ["Fine-tuning data", "Datasets, number of examples, languages", "training"],
  translated_data: ["Machine-translated data", "In training or for the test: “no”, “yes”, or which and how much", "training"],
  pretraining_data: ["Pre-training data in words", "Gigabytes, pairs, languages", "training"],
  parallel_tokens: ["Parallel pre-training data (tokens)", "Tokens seen", "training"],
  pretraining_languages: ["Pre-training languages", "Their number", "training"],
  pretraining_language_list: ["Codes of the pre-training languages", "en, de, sw, …", "training"],
  contamination: ["Test data seen in training", "“none”, or which and how", "training"],
  url: ["Weights or home page", "A link: https://…", "release"],
  code: ["Code", "A link: https://…", "release"],
  open_weights: ["Open weights", "", "release"],
  licence: ["Licence of the weights", "", "release"],
  base_model: ["Base model", "", "release"],
  revision: ["Revision", "Commit or checkpoint hash", "release"],
  date: ["Date", "For example 2026-11-16", "release"],
  tokenizer: ["Tokenizer", "Its type", "setup"],
  vocabulary_size: ["Vocabulary size", "", "setup"],
  max_length: ["Maximum length (tokens)", "", "setup"],
  hardware: ["Hardware", "Devices and hours used", "setup"],
  seeds: ["Seeds", "Their number", "setup"],
  decoding: ["Prompts and decoding", "", "setup"],
  unparsed: ["Unparsed answers", "A share from 0 to 1", "evaluation"],
  tokens: ["Tokens used", "By the whole evaluation", "evaluation"],
  cost: ["Cost (US dollars)", "Of the whole evaluation", "evaluation"],
  notes: ["Notes for readers", "One per line, 20 at most", "evaluation"],
};

/** @type {Record<string, string>} */
export const CHOICES = {
  llm: "large language model",
  floor: "floor: a baseline",
  true: "yes",
  false: "no",
};
