// Types of a board's data: as in src/isogloss/board/model.py and system_model.py, with scores unpacked by decode.js.
export {};

declare global {
  type Maybe<T> = T | null | undefined;
  type Cleanable = Node | string | number | boolean | null | undefined;
  type Child = Cleanable | readonly Child[];
  type Listener = (event: any) => void;
  type Attributes = Record<string, string | number | boolean | Listener | null | undefined>;
  type Interval = [number, number];
  type Option = string[];
  /** Colours, or the class of a style sheet. */
  type Paint = { fill: string; ink: string; mark?: string };
  type TipLine = Maybe<string | false> | Promise<Maybe<Maybe<string>[] | "">>;
  type TipMaker = () => TipLine[];
  /** The scores of a system; every column has one. */
  interface Figures extends Omit<Map<string, Figure>, "get"> {
    get(column: string): Figure;
  }

  // Lists read by position are not empty; `filter(Boolean)` drops missing values.
  interface Array<T> {
    at(index: number): T;
    filter(predicate: BooleanConstructor): Exclude<T, null | undefined | false | "" | 0>[];
  }
  interface Element {
    open: boolean;
    disabled: boolean;
    dataset: DOMStringMap;
    tabIndex: number;
    focus(options?: FocusOptions): void;
  }
  type Columns = readonly TableColumn<any>[];
  type Load = Promise<boolean>;

  /** Listeners, tips and drawings of a node. */
  interface Extras {
    listeners: Record<string, Listener>;
    tip?: TipMaker;
    cellTips?: (cell: any) => TipMaker | null;
    draw?: (width: number) => Node;
    width?: number;
  }

  interface Page {
    /** What a citation and the browser's history name: the same for all parameters, or by them. */
    title: string | ((params: URLSearchParams) => string);
    view(params: URLSearchParams): Child[] | Promise<Child[]>;
  }

  interface Ended {
    value: number;
    low?: number | null;
    high?: number | null;
  }

  // model.py: the fields of data.js.
  interface TaskData {
    id: string;
    name: string;
    category: string;
    kind: string;
    metric: string;
    metrics?: string[];
    lower_is_better: boolean;
    languages: string[];
    n: number[];
    human: number | null;
  }

  interface Task extends TaskData {
    title: string;
    scores: Float64Array;
    cells: Float64Array;
    cellMetric: string;
    place: Map<string, number>;
  }

  interface Language {
    code: string;
    name: string;
    autonym: string;
    family: string;
    branch: string;
    script: string;
    rtl: boolean;
    articles: number | null;
    speakers: number | null;
    near: string[];
    place: [number, number] | null;
  }

  interface System {
    id: string;
    name: string;
    kind: string;
    regime: string;
    reported?: boolean;
    complete?: boolean;
    has_predictions?: boolean;
    year?: number | null;
    date?: string | null;
    paper?: string | null;
    url?: string | null;
    parameters?: number | null;
    parameters_active?: number | null;
    open_weights?: boolean | null;
    pretraining_data?: string | null;
    parallel_data?: string | boolean | null;
    translated_data?: string | boolean | null;
    licence?: string | null;
    contamination?: string;
    notes?: string[];
    source?: string;
    unparsed?: number | null;
    tokens?: number | null;
    cost?: number | null;
    provenance: number;
    thousand_cost?: number | null;
    prompt_sd?: number | null;
    // Added by decode.js.
    at: number;
    fullName: string;
    cells: number;
  }

  interface PackedAverages {
    value: string;
    low?: string;
    high?: string;
  }

  interface Averages {
    value: Float64Array;
    low: Float64Array;
    high: Float64Array;
  }

  interface BoardRanks {
    title: string;
    rank: (number | null)[];
    low: (number | null)[];
    high: (number | null)[];
    groups: number[][];
    test: string;
  }

  interface Footnote {
    system: string;
    task: string;
    text: string;
  }

  interface BoardProvenance {
    scorer: string;
    split: string;
    resample: string;
    checksums: Record<string, Record<string, string>>;
  }

  interface PseudoScores {
    task: string;
    language: string;
    name: string;
    scores: [number, number][];
  }

  interface HistoryEvent {
    date: string;
    system: string;
    event: string;
    measure: string;
    value: number | null;
    source: string;
  }

  interface HistoryTask {
    id: string;
    name: string;
    category: string;
    languages: number;
    human: number | null;
    basis: string;
  }

  interface HistorySuite {
    id: string;
    title: string;
    date: string;
    rule: string;
    source: string;
    languages: number;
    tasks: HistoryTask[];
    rows: { system: string; regime: string; average: number | null; scores: Record<string, number> }[];
  }

  interface BoardHistory {
    suites: HistorySuite[];
    events: HistoryEvent[];
    changes: { task: string; change: string; source: string }[];
  }

  interface SharedData {
    made: string;
    isogloss: string;
    title?: string;
    suite: string;
    rule: { name: string; text: string };
    categories: { name: string; tasks: string[] }[];
    ranks: Record<string, BoardRanks | undefined>;
    own_rule: string[];
    example_tests: Record<string, [number, number, number][] | undefined>;
    tests: Record<string, string>;
    footnotes?: Footnote[];
    provenance?: BoardProvenance[];
    has_bias?: boolean;
    examples?: Record<string, string[]>;
    no_examples?: string;
    pseudo?: PseudoScores[];
    submit?: string;
    precision?: string;
    data_hash?: string;
    history?: BoardHistory | null;
    schema: number;
  }

  interface BoardData extends SharedData {
    tasks: TaskData[];
    languages: Language[];
    system_fields: string[];
    systems: unknown[][];
    cells: Record<string, string>;
    averages: Record<string, PackedAverages>;
  }

  /** The board as openBoard returns it. */
  interface Board extends SharedData {
    tasks: Task[];
    languages: Language[];
    systems: System[];
    averages: Map<string, Averages>;
    single: Map<string, Float64Array>;
    task: Map<string, Task>;
    system: Map<string, System>;
    language: Map<string, Language>;
    cellCount: number;
  }

  // system_model.py: the file of a system.
  interface SystemCell {
    task: string;
    language: string;
    n: number;
    metrics: Record<string, [number, number | null, number | null]>;
    signature?: string;
    notes?: string[];
    unparsed?: number;
    replies?: number;
    failures?: Record<string, number>;
  }

  interface SystemGap {
    task: string;
    value: number;
    low: number | null;
    high: number | null;
  }

  interface ErrorRate extends Ended {
    test: string;
    language: string;
  }

  interface PairedTest {
    column: string;
    difference: number;
    low: number | null;
    high: number | null;
    p: number;
  }

  /** A difference of two scores, turned so that a positive lead means that the first system is better. */
  interface Contrast {
    level: string;
    id: string;
    title: string;
    task?: Task;
    code?: string;
    lower: boolean;
    first: number;
    second: number;
    lead: number;
    low: number | null;
    high: number | null;
    p: number | null;
    /** The test's name, or "" without a test. */
    test: string;
    /** "first" or "second" is significantly better; "" is not distinguishable or not tested. */
    winner: string;
    /** Number of systems in a test over languages, which is corrected over their pairs. */
    among: number;
    /** True if only the compared systems are tested. */
    alone?: boolean;
    /** Cells or tasks that both systems have, of all. */
    shared: number;
    of: number;
    parts?: Contrast[];
  }

  interface ComparedPair {
    board: Board;
    pair: System[];
    /** All systems of the page. */
    systems: System[];
    tests: Map<string, PairedTest>;
  }

  interface PairContrasts {
    /** The overall score, or the average of what both share. */
    top: Contrast | null;
    complete: boolean;
    categories: Contrast[];
    tasks: Contrast[];
    cells: Contrast[];
    languages: Contrast[];
  }

  /** A row of a forest plot. */
  interface ForestRow {
    contrast: Contrast;
    head: Child;
    level: string;
    key: string;
  }

  interface ForestOptions {
    pair: System[];
    /** Places of the pair's colours. */
    colours: number[];
    limit: number;
    /** Cells whose single examples can be compared. */
    examples: Set<string>;
  }

  interface ContrastCounts {
    first: number;
    second: number;
    open: number;
    untested: number;
    all: number;
  }

  /** A category or task of the overall score, and how much it adds to the difference. */
  interface AddedPart {
    title: string;
    /** Ids of its tasks. */
    tasks: string[];
    first: number;
    second: number;
    lower: boolean;
    lead: number;
    added: number;
  }

  interface BucketBar {
    name: string;
    edges: string;
    n: number;
    value: number;
    low: number | null;
    high: number | null;
    at?: number;
    own?: number;
    other?: number;
    p?: number;
    flips?: boolean;
    ids?: string[];
    mark?: "top" | "low";
    sure?: boolean;
  }

  interface Chart {
    task: string;
    language: string;
    metric: string;
    attribute: string;
    title: string;
    insight?: string;
    edges?: number[] | null;
    best?: number | null;
    worst?: number | null;
    bars: BucketBar[];
  }

  /** A tested statement about the buckets of an attribute: explain/model.py. */
  interface BucketClaim {
    kind: string;
    p: number;
    q?: number;
    points: number;
    buckets: number[];
  }

  /** The buckets of an attribute on a page of an analysis. */
  interface BucketSet {
    attribute: string;
    title: string;
    metric: string;
    bars: BucketBar[];
    claims: BucketClaim[];
    /** Positions of ordered buckets, -1 for others. */
    ordered: number[];
    /** The chart by isogloss explain, if it has the same buckets. */
    built: Chart | null;
    insight?: string;
    /** Of single examples. */
    source?: ExampleAttribute;
    cut?: Cut | null;
    codes?: Uint16Array;
    counts?: Float64Array;
    edges?: number[] | null;
  }

  type PackedChart = Omit<Chart, "bars"> & { bars: any[][] };

  interface BoardExample {
    inputs: Record<string, string>;
    gold: string;
    answer: string;
    score: number | null;
  }

  interface SystemDetail {
    id: string;
    metadata: Record<string, unknown>;
    cells: SystemCell[];
    gaps: SystemGap[];
    checklist: ErrorRate[];
    checklist_languages: Language[];
    paired: Record<string, PairedTest[] | undefined>;
    missing: string[];
    analyses?: {
      single: PackedChart[];
      pairwise: Record<string, PackedChart[] | undefined>;
      examples: Record<string, Record<string, BoardExample | undefined> | undefined>;
    } | null;
    examples?: string[];
    pseudo?: SystemCell[];
  }

  type Detail = Maybe<SystemDetail>;

  interface Distribution {
    task: string;
    language: string;
    attribute: string;
    title: string;
    discrete: boolean;
    n: number;
    mean: number;
    quartiles: number[];
    shares: Record<string, number>;
  }

  // example_tables.py: single examples.
  type PackedNumbers = [number, string];
  type PackedColumn = [any[], PackedNumbers | null];

  interface ValueColumn {
    values: any[];
    places: ArrayLike<number> & Iterable<number>;
  }

  interface ExampleAttribute<C = ValueColumn> {
    name: string;
    title: string;
    discrete: boolean;
    of_examples: boolean;
    column: C;
  }

  interface ExampleText {
    inputs: Record<string, string>;
    gold: string;
  }

  interface PackedExamples {
    ids: string[];
    sources: PackedNumbers | null;
    source: string;
    rows: PackedNumbers | null;
    counted: PackedNumbers | null;
    attributes: ExampleAttribute<PackedColumn>[];
    texts: Record<number, ExampleText | undefined>;
  }

  interface CellExamples extends Omit<PackedExamples, "rows" | "counted" | "attributes"> {
    rows: Uint8Array | Uint32Array;
    rowSources: Uint32Array;
    sourceCount: number;
    counted: Uint8Array | Uint32Array | null;
    attributes: ExampleAttribute[];
  }

  interface MetricOf<C> {
    name: string;
    value: string;
    lower_is_better: boolean;
    columns: C[];
  }

  type Metric = MetricOf<Float64Array>;

  interface StatisticsOf<C> {
    metrics: MetricOf<C>[];
    answers: Record<number, string | undefined>;
  }

  interface LiveCell {
    examples: CellExamples;
    systems: StatisticsOf<Float64Array>[];
  }

  type Cut = { rule: string; edges?: number[]; buckets?: number };

  interface CutBuckets {
    buckets: { name: string; edges: string; n: number }[];
    codes: Uint16Array;
  }

  interface Estimate {
    value: number;
    n: number;
    errors: Float64Array;
    count: number;
    variance: number;
    centre: number;
    unseen: number;
    /** 1 for each source with a weight. */
    present: Uint8Array;
  }

  interface Exchange {
    value: number;
    p: number;
    count: number;
    interval: Interval | null;
  }

  // The leaderboard.
  interface CellColumn {
    task: Task;
    codes: string[];
    places: number[];
    whole: boolean;
    scores: Float64Array;
    metric: string;
  }

  interface ScoreColumn {
    id: string;
    title: string;
    kind: string;
    category?: string;
    /** The cells of a task column. */
    part: CellColumn;
    /** The cells of a category column. */
    parts: CellColumn[];
    lower?: boolean;
  }

  interface Figure {
    value: number;
    low: number;
    high: number;
    partial?: boolean;
    n: number;
    of: number;
  }

  interface Lack {
    column: CellColumn;
    codes: string[];
  }

  interface Standing {
    system: System;
    figures: Figures;
    cells: number;
    lacking(): Lack[];
    rank: number | null;
    human?: boolean;
  }

  type Unranked = Omit<Standing, "rank">;

  /** What the column of ranks shows. */
  type RankedRow = Pick<Standing, "system" | "rank" | "cells" | "lacking" | "human">;
  type RankedTable = Pick<Standings, "board" | "order" | "ranked" | "testRanks"> & {
    by: Pick<ScoreColumn, "id" | "title" | "kind">;
  };

  interface Segment {
    id: string;
    kind: string;
    title: string;
    /** The segment in "3 systems cover …". */
    words: string;
    tasks: string[];
  }

  interface TaskCoverage {
    n: number;
    of: number;
    average: boolean;
  }

  interface CoveragePattern {
    tasks: TaskCoverage[];
    systems: System[];
  }

  /** The findings of the landing page. */
  interface LeadFacts {
    lead: Standing;
    second: Standing | null;
    ranked: Standing[];
    /** Tasks on which the second has the better score, if they are most of the tasks. */
    higher: number;
    tasks: number;
    decides: string;
  }

  interface ServiceFacts {
    relative: Map<string, RelativeScore>;
    service: Service;
    reference: string;
  }

  interface Choice {
    ranking: string;
    title: string;
    hint: string;
    weights?: Record<string, number>;
    narrowed?: boolean;
    /** True if a filter selects cells within the segment. */
    filtered: boolean;
    segment: Segment;
    tasks: string[];
    languages: string[];
    lower?: boolean;
  }

  interface Standings {
    board: Board;
    columns: CellColumn[];
    shown: ScoreColumn[];
    rows: Standing[];
    /** All systems of the board. */
    everyone: Unranked[];
    by: ScoreColumn;
    choice: Choice;
    values: number[];
    ranked: number;
    /** Matching systems without every score of the selection, if only complete ones are rows. */
    dropped: Standing[];
    order: TestedOrder;
    /** Test the order; null if it is tested. */
    testRanks: (() => void) | null;
  }

  /** The ranks that one test leaves open, and groups of systems that are not significantly different, by id. */
  interface TestedOrder {
    test: string;
    note: string;
    /** Of all ranked systems, if any pair was tested. */
    ranges: Map<string, Interval>;
    /** Ranked systems that the test leaves out: any rank is possible. */
    untested: Set<string>;
    groups: string[][];
  }

  interface Ordering {
    low: number[];
    high: number[];
    groups: number[][];
  }

  interface PairTests {
    p: (one: number, other: number) => number;
    tested: number[];
  }

  interface CorrelationPart {
    covariance: Float64Array;
    prior: number;
    logLikelihood: (spread: number) => number;
    variance: number;
    freedom: number;
  }

  interface FamilySample {
    family: number[];
    sizes: Float64Array;
    alone: number;
    together: number;
  }

  interface FiguresCache {
    key: string;
    board: Board | null;
    columns: CellColumn[];
    shown: ScoreColumn[];
    ranking: { id: string; title: string; hint: string; lower?: boolean };
    choice: Choice;
    rows: Unranked[];
  }

  interface RankingPart {
    id: string;
    category: string;
    codes: string[];
    scores: number[];
    figure: number;
  }

  interface TableColumn<Row = any> {
    id: string;
    title: string;
    head?: Child;
    note?: string;
    hint?: string | string[];
    group?: string;
    className?: string;
    fileTitle?: string;
    numeric?: boolean;
    lower?: boolean;
    score?: boolean;
    fixed?: boolean;
    heads?: boolean;
    sparse?: boolean;
    onlyInFiles?: boolean;
    inFiles?: boolean;
    value?: ((row: Row) => any) | null;
    show?: (row: Row) => Child;
    text?: (value: any) => string;
    tip?: (row: Row) => TipLine[];
    mark?: (row: Row) => string | null;
    strength?: (row: Row) => Maybe<number>;
    /** Called with the rows of the page and those of all pages, in order. */
    prepare?: (shown: Row[], sorted: Row[]) => void;
    /** The place in the order, if equal values have one. */
    place?: ((row: Row) => number | null) | null;
    /** Sizes of the column, as variables of the table's style. */
    sizes?: (shown: Row[]) => Record<string, string>;
    /** A scale for the heading. */
    axis?: Child;
    /** The unit of numbers in files. */
    unit?: { title: string; of: number };
    interval?: (row: Row) => Maybe<{ low?: Maybe<number>; high?: Maybe<number> }>;
    /** A cell of a LaTeX table, already escaped. */
    latex?: (row: Row) => string;
  }

  /** A column of systemTable. */
  interface SystemColumn {
    id: string;
    title: string;
    note?: string;
    hint?: string | string[];
    lower?: boolean;
    of(system: System): Maybe<number>;
    /** The ends of the 95 % interval, where it is known. */
    interval?(system: System): { low?: Maybe<number>; high?: Maybe<number> } | null;
    says?(system: System): TipLine[];
    /** The leaderboard's ranking by the same scores. */
    ranking?(): Standings;
  }

  interface SystemRow extends RankedRow {
    values: Maybe<number>[];
  }

  interface Point {
    system: System;
    value: number;
    kind: string;
    low?: number | null;
    high?: number | null;
    lines: TipLine[];
  }

  interface StripLine {
    label: string;
    href?: string;
    points: Point[];
    hollow?: boolean;
    reference?: { value: number; lines: string[] } | null;
  }

  /** A mark's colour and shape. */
  type MarkStyle = [string, string];

  interface PlotPoint {
    x: number;
    y: number;
    low: number;
    high: number;
    style: MarkStyle;
    hollow?: boolean;
    label: string;
    href: string;
    lines: string[];
    system: System;
  }

  interface Plane {
    left: number;
    right: number;
    top: number;
    bottom: number;
    width: number;
    height: number;
    x(value: number): number;
    y(value: number): number;
  }

  /** A label at a point, and where it goes: `x` is its start, or its end if `end`. */
  interface LabelAnchor {
    x: number;
    y: number;
    text: string;
  }

  interface PlacedLabel extends LabelAnchor {
    end: boolean;
  }

  /** A system of a time line: a decimal year, and the date as it is known. */
  interface DatedPoint extends PlotPoint {
    regime: string;
    when: string;
  }

  /** The best score on a task, and its distance from the human one. */
  interface HumanGap {
    task: Task;
    human: number;
    best: Ended & { system: System };
    gap: number;
  }

  interface RegimeBest extends Ended {
    system: System;
    regime: Regime;
  }

  interface Regime {
    id: string;
    title: string;
    style: MarkStyle;
  }

  interface BarRecord extends Ended {
    label: string;
    name?: string;
    n?: number;
    lines: TipLine[];
    bucket?: any;
    at?: number;
    /** False if the value is not significant. */
    sure?: boolean;
    mark?: "top" | "low";
    /** False if no examples can be listed. */
    lists?: boolean;
  }

  interface SharedCells {
    task: Task;
    codes: string[];
  }

  interface HeatTable {
    rows: any[];
    columns: any[];
    rowHead(row: any): Child;
    columnHead(column: any): Child;
    value(row: any, column: any): Maybe<number>;
    tip?(row: any, column: any, score: any): TipLine[];
    href?(row: any, column: any): string;
    paintOf(score: any, row?: any, column?: any): Paint;
    text?(score: any): string;
    lacking?: string;
    caption: string;
    bands?: HeatBand[];
    turned?: boolean;
  }

  /** A head over neighbouring columns of a heat map. */
  interface HeatBand {
    name: string;
    href?: string;
    size: number;
    lines?: string[];
  }

  interface FamilyBand {
    name: string;
    href?: string;
    languages: Language[];
  }

  /** A row of dotChart: a score with its interval, and what it is compared with. */
  interface DotRow {
    label: string;
    href?: string;
    figure: Ended | null;
    /** A score to compare with, such as the best of any system. */
    goal?: number;
    /** Faint dots. */
    others?: number[];
    text?: string;
    /** A direct label for notable values. */
    note?: string;
    sure?: boolean;
    lines: TipLine[];
  }

  interface DotBand {
    name: string;
    rows: DotRow[];
  }

  interface DotLine {
    value: number;
    label: string;
  }

  interface DotChart {
    bands: DotBand[];
    scale: Interval;
    lines?: DotLine[];
    description: string;
    /** Draw columns instead of rows where they fit. */
    upright?: boolean;
    signed?: boolean;
  }

  /** A language of a system's profile; the gap is negative if the best score is better. */
  interface ProfileRow {
    language: Language;
    value: number;
    low: number | null;
    high: number | null;
    best: number;
    bestSystem: System | null;
    gap: number;
    lines: TipLine[];
  }

  interface RowOptions {
    rowClass?: ((row: any) => string | null) | null;
    rowKey?: ((row: any) => string) | null;
  }

  interface DataTable extends RowOptions {
    columns: Columns;
    rows: any[];
    params: URLSearchParams;
    start: string;
    label: string;
    before?: any[];
    first?: { is: (row: any) => boolean; title: string; rest: string };
    legend?: Child;
    most?: number;
    className?: string;
    fallback?: (a: any, b: any) => number;
  }

  interface Sort {
    column?: TableColumn;
    descending: boolean;
    natural: string;
  }

  interface Axis {
    id: string;
    title: string;
    axis: string;
    lacks: string;
    log?: boolean;
    of(system: System): number;
    text(x: number): string;
    ticks?(values: number[]): number[];
    unit?: { title: string; of: number };
  }

  interface BiasCell {
    code: string;
    examples: CellExamples;
  }

  /** A choice among values of the address. */
  interface Chosen {
    values: string[];
    chosen: string;
  }

  interface AnalysisContext {
    board: Board;
    mode: string;
    params: URLSearchParams;
    systems: System[];
    details: Detail[];
    task: string;
    language: string;
  }

  interface LanguageChoice {
    tasks: Task[];
    systems: System[];
  }

  /** What the figures of languages are compared by. */
  interface Basis {
    task: Task | null;
    tasks: Task[];
    system: System | null;
    systems: System[];
    /** The system's own score in English is the reference. */
    own: boolean;
    relative: Map<string, RelativeScore>;
    languages: Language[];
    reference: string;
    /** Some languages have several tasks. */
    few: boolean;
  }

  interface TreeLeaves {
    valueOf(language: Language): number;
    textOf(language: Language): string;
    linesOf(language: Language): string[];
    paintOf(value: number): Paint;
    ends: Interval;
    description: string;
  }

  interface MarkedRow {
    label: string;
    href?: string;
    figure: Ended;
    /** Further scores, as short lines. */
    others?: number[];
    marks?: { value: number; className: string; lines: string[] }[];
    text: string;
    /** The text on narrow screens. */
    short?: string;
    lines: TipLine[];
  }

  interface MarkedAxis {
    scale: Interval;
    unit?: string;
    description: string;
    /** The share of the width that labels may take. */
    room?: number;
  }

  interface ValueField {
    values: Float64Array;
    distances: Float64Array;
  }

  interface Circle {
    home: Interval;
    x: number;
    y: number;
    r: number;
  }

  interface MapCircle extends Circle {
    language: Language;
    name: string;
  }

  interface Box {
    left: number;
    right: number;
    top: number;
    bottom: number;
  }

  interface MapLabel {
    at: number;
    x: number;
    y: number;
    anchor: string;
    inside: boolean;
  }

  /** A task's best score in a language, and as a share of the reference language's. */
  interface RelativePart extends Best {
    task: Task;
    reference: { code: string } & Best;
    share: number;
  }

  interface RelativeScore {
    share: number;
    parts: RelativePart[];
  }

  interface ServiceGroup {
    languages: Language[];
    speakers: number;
  }

  /** Languages by whether a score reaches a share of the score in English. */
  interface Service {
    served: ServiceGroup;
    unserved: ServiceGroup;
    untested: ServiceGroup;
  }

  interface Best {
    value: number;
    system: System | null;
  }

  // The finder.
  /** What a reader asks for; `most` is in millions of parameters. */
  interface Wish {
    kind: string;
    id: string;
    tasks: Task[];
    language: Language | null;
    open: boolean;
    most: number | null;
  }

  interface FinderPick {
    system: System;
    parts: { task: Task; value: number }[];
    value: number;
    low: number;
    high: number;
    rank: number;
    lacking: Task[];
  }

  /** Systems ranked on the same tasks: the best, and the number of all. */
  interface PickGroup {
    tasks: Task[];
    total: number;
    picks: FinderPick[];
  }

  interface Recommendation {
    wish: Wish;
    tested: number;
    kept: number;
    undisclosed: number;
    near: Language | null;
    groups: PickGroup[];
    byTask: PickGroup[];
    /** Number of systems without a condition. */
    without: { open: number; most: number; both: number };
  }

  interface FinderVerdict {
    text: string;
    sure: boolean;
    order?: TestedOrder;
    /** A ranking whose test is to follow. */
    table?: Standings;
  }

  var isoglossBoardData: BoardData | undefined;
  var isoglossBias: { distributions: Distribution[] } | undefined;
  var isoglossSystem: (id: string, detail: SystemDetail) => void;
  var isoglossExamples: (cell: string, packed: PackedExamples) => void;
  var isoglossStatistics: (path: string, packed: StatisticsOf<PackedColumn>) => void;
}
