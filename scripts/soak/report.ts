/** The result of a run, for the terminal and as a picture. */
import type { Measures } from './measures.ts'
import { GROWN, HEAP_BOUND, KILLED, LATENCY_BOUND, MEMORY_BOUND, MOST_NOISE, YARDSTICK } from './measures.ts'
import { drawPlot } from './plot.ts'
import { quantile, type Trend, warmUp } from './series.ts'
import { textTable } from './table.ts'
import type { Target } from './target.ts'

/** A run that is over. */
export interface Outcome {
  readonly seed: number
  readonly seconds: number
  readonly measures: Measures
  /** The nodes whose books were kept, and the one that was turned back. */
  readonly targets: readonly Target[]
  readonly nodes: readonly string[]
  /** The reported faults, and how often each was reported. */
  readonly problems: ReadonlyMap<string, number>
}

/** Calls of less weight are left out of the table and of the judgement: they report nothing about a trend. */
const LEAST_CALLS = 20
const COLOURS: Readonly<Record<string, string>> = {
  killed: '#c0392b',
  steady: '#2471a3',
  snapshots: '#7d8c2c',
  [YARDSTICK]: '#999999',
}
const SENDING = ['transfer', 'token transfer']

const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : 0)

const percent = (share: number): string => `${share * 100} %`
const SHORT = 'too short to tell'

function megabytesText(trend: Trend | undefined): string {
  if (trend === undefined) return ''
  const { change, verdict } = trend
  return verdict === 'short' ? SHORT : `${signed(change)} MB ${verdict}`
}

function shareText(trend: Trend | undefined): string {
  if (trend === undefined) return ''
  const { change, median, verdict } = trend
  return verdict === 'short' ? SHORT : `${signed((100 * change) / median)} % ${verdict}`
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(0)}`

/** Those whose latency or memory rose, as sentences; empty when all is level. */
export function rising({ measures, nodes, seconds }: Outcome): string[] {
  return nodes.flatMap((node) => {
    const grown = (what: string, trend: Trend | undefined) =>
      trend?.verdict === 'rising'
        ? [`${node}: ${what} rose by ${trend.change.toFixed(0)} MB, more than ${trend.allowed.toFixed(0)} MB`]
        : []
    const slower = measures
      .rows(node, seconds)
      .filter(({ count, trend }) => count >= LEAST_CALLS && trend?.verdict === 'rising')
      .map(
        ({ kind, trend }) => `${node}: ${kind} became slower by ${shareText(trend).replace(/ rising$/, '')}`,
      )
    return [
      ...grown('memory', measures.memoryTrend(node, seconds)),
      ...grown('live heap', measures.heapTrend(node, seconds)),
      ...slower,
    ]
  })
}

/** The tables. */
export function reportText(outcome: Outcome): string {
  const { measures, nodes, seconds, targets } = outcome
  const calls = [...nodes, YARDSTICK].flatMap((node) =>
    measures
      .rows(node, seconds)
      .filter(({ count }) => count >= LEAST_CALLS)
      .map(({ kind, count, half, most, trend }) => [
        node,
        kind,
        String(count),
        milliseconds(half),
        milliseconds(most),
        shareText(trend),
      ]),
  )
  const memory = nodes.map((node) => {
    const values = measures.memory(node).map(([, value]) => value)
    const trend = measures.memoryTrend(node, seconds)
    const most = values.reduce((largest, value) => Math.max(largest, value), 0)
    const heapNow = measures.heap(node).at(-1)?.[1].toFixed(0) ?? ''
    const heap = measures.heapTrend(node, seconds)
    return [
      node,
      (quantile(values, 0.5) ?? 0).toFixed(0),
      most.toFixed(0),
      megabytesText(trend),
      heapNow,
      megabytesText(heap),
    ]
  })
  const books = targets.map(({ name, ledger, floor }) => [
    name,
    String(floor),
    String(ledger.acknowledged.length),
    String(ledger.unanswered),
  ])
  const { restarts } = measures
  const back = restarts.map(({ backAfter }) => backAfter)
  const early = restarts.reduce((sum, { whileStarting }) => sum + whileStarting, 0)
  const orderly = restarts.filter(({ signal }) => signal === 'SIGTERM').length
  return [
    textTable([['node', 'call', 'count', 'p50 ms', 'p99 ms', 'drift'], ...calls], 2),
    textTable([['node', 'p50 MB', 'most MB', 'drift', 'heap MB', 'drift'], ...memory], 1),
    textTable([['node', 'height', 'acknowledged', 'of them unanswered'], ...books], 1),
    `Ended and started again ${restarts.length} times: ${restarts.length - orderly} by kill -9, ${orderly} in order, ` +
      `and ${early} more times killed while starting. Back after ${milliseconds(quantile(back, 0.5) ?? 0)} ms, ` +
      `at most ${milliseconds(back.reduce((most, one) => Math.max(most, one), 0))} ms.`,
    `Level means: after ${warmUp(seconds).toFixed(0)} s of warming up, over the rest of the run, medians of calls rise by ` +
      `at most ${percent(LATENCY_BOUND.share)} in comparison with the yardstick, a bare server that does the same work all ` +
      `the time; memory by ${percent(MEMORY_BOUND.share)} or ${MEMORY_BOUND.least} MB, and live heap by ` +
      `${percent(HEAP_BOUND.share)} or ${HEAP_BOUND.least} MB, whichever is more. The node that is ${KILLED} is always ` +
      `warming up: of it only memory is compared, each process's at the age of ${GROWN} s.`,
    ...(measures.noise(seconds) > MOST_NOISE
      ? [
          `Latency was not judged: the yardstick itself took ${measures.noise(seconds).toFixed(1)} times longer in bad moments than ` +
            `in good ones, and up to ${MOST_NOISE} times would do. Something else keeps this machine busy.`,
        ]
      : []),
  ].join('\n\n')
}

/** The picture. */
export function reportPlot({ seed, seconds, measures, nodes, targets, problems }: Outcome): string {
  const colour = (node: string) => COLOURS[node] as string
  const sent = targets.reduce((sum, { ledger }) => sum + ledger.acknowledged.length, 0)
  const found = problems.size === 0 ? 'nothing lost' : 'not as it should be'
  return drawPlot({
    title: `${Math.round(seconds)} seconds of mixed load, ${measures.restarts.length} restarts: ${found}`,
    subtitle: `${sent} transactions acknowledged; seed ${seed}`,
    length: measures.length,
    legend: [
      { label: 'kill -9', colour: '#c0392b' },
      { label: 'ended in order', colour: '#222222' },
    ],
    marks: measures.restarts.map(({ at, signal }) => ({
      at,
      colour: signal === 'SIGKILL' ? '#c0392b' : '#222222',
    })),
    panels: [
      {
        title: 'Memory, MB (thin: live heap)',
        lines: nodes.flatMap((node) => [
          { label: node, colour: colour(node), points: measures.memory(node) },
          { label: '', colour: colour(node), points: measures.heap(node), isThin: true },
        ]),
      },
      {
        title: 'Latency of all calls, ms (thin: the slowest hundredth)',
        isLogarithmic: true,
        lines: [...nodes, YARDSTICK].flatMap((node) => [
          { label: node, colour: colour(node), points: measures.latency(node) },
          { label: '', colour: colour(node), points: measures.latency(node, undefined, 0.99), isThin: true },
        ]),
      },
      {
        title: 'Transactions acknowledged in a second',
        lines: nodes.map((node) => ({
          label: node,
          colour: colour(node),
          points: measures.rate(node, SENDING),
        })),
      },
    ],
  })
}
