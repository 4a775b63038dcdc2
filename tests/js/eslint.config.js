import { createRequire } from "node:module";

// Resolve from the folder with the installed tools, outside the checkout.
const require = createRequire(`${process.env.ISOGLOSS_NODE_TOOLS ?? import.meta.dirname}/package.json`);
const js = require("@eslint/js");
const globals = require("globals");

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-param-reassign": ["error", { props: false }],
  "no-shadow": ["error", { builtinGlobals: false }],
  "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  "prefer-template": "error",
  // Text from others must never become markup.
  "no-restricted-properties": [
    "error",
    { property: "innerHTML", message: "Set text instead." },
    { property: "outerHTML", message: "Set text instead." },
    { property: "insertAdjacentHTML", message: "Set text instead." },
  ],
  "max-lines": ["error", 400],
  "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
};

export default [
  { files: ["**/*.js"], languageOptions: { ecmaVersion: 2024, globals: globals.browser }, rules },
  {
    files: ["**/*.test.js", "**/eslint.config.js"],
    languageOptions: { globals: globals.node },
    rules: { "max-lines-per-function": "off" },
  },
  // Control characters in regular expressions are the point of `printable`.
  { files: ["**/dom.js"], rules: { "no-control-regex": "off" } },
];
