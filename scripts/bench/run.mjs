/** Runs rows on nodes, interleaved round by round, and keeps the measurements. */
import { measure } from './measure.mjs'
import { HTTP_NODES, NODES } from './nodes.mjs'
import { open } from './scenes.mjs'
import { summarize } from './statistics.mjs'

/** Measures one sample: a finished one, or operations that a node carries out, whose outcome is then checked. */
async function measured(sample, node) {
  if (sample.work === undefined) return sample
  const figures = await measure(sample, node.cpuMs)
  await sample.check?.()
  return figures
}

/** One sample of a row on a process of its own. */
async function sampleFresh(row, name, options) {
  const scene = await open(name, row.chain, options)
  try {
    await row.prepare?.(scene)
    return await measured(await row.sample(scene), scene.node)
  } finally {
    await scene.node.stop()
  }
}

/** Whether all samples of a row run on one process a node, which other rows use too. */
const shares = ({ chain }) => chain !== undefined && chain !== 'fresh'

/** The rows in their order, but those that share a kind of chain together. */
function groups(rows) {
  const found = []
  for (const row of rows) {
    const same = (group) => shares(row) && group[0].chain === row.chain
    const group = found.find(same)
    if (group) group.push(row)
    else found.push([row])
  }
  return found
}

/** Each round begins with another node, so that none always follows the same one. */
const turned = (names, round) => [
  ...names.slice(round % names.length),
  ...names.slice(0, round % names.length),
]

/** The rows of a group in their order, each with those that are to be measured in turns with it. */
function inTurns(group) {
  const isBeside = ({ beside }) => group.some(({ name }) => name === beside)
  return group
    .filter((row) => !isBeside(row))
    .map((row) => [row, ...group.filter(({ beside }) => beside === row.name)])
}

/** What has been measured of a row: samples and failures by node. */
function startRow(row, nodes) {
  const names = (row.nodes ?? HTTP_NODES).filter((name) => nodes.includes(name))
  return { row, names, samples: Object.fromEntries(names.map((name) => [name, []])), errors: {} }
}

function resultOf({ row, names, samples, errors }) {
  const { name, title, operation, unit, figure, limits } = row
  const summaries = names
    .filter((node) => samples[node].length > 0)
    .map((node) => [node, { kind: NODES[node].kind, ...summarize(samples[node]), list: samples[node] }])
  return { name, title, operation, unit, figure, limits, nodes: Object.fromEntries(summaries), errors }
}

/**
 * Runs rows on the nodes that take part in them, a sample of each in turn; `scenes` has the nodes that their group
 * shares. Returns the results.
 */
async function runRows(rows, scenes, { nodes, rounds, nodeFlags, onProgress }) {
  const runs = rows.map((row) => startRow(row, nodes))
  const optionsOf = (name) => ({ nodeFlags: nodeFlags(name) })

  /** Runs work of a node; a failure ends the node's part of the row. */
  async function attempt({ row, errors }, name, step, work) {
    if (errors[name] !== undefined) return
    onProgress(`${row.name}, ${step}: ${name}`)
    try {
      await work()
    } catch (error) {
      errors[name] = error.message
    }
  }

  async function sample({ row, samples }, name) {
    const scene = scenes.get(name)
    if (scene) samples[name].push(await measured(await row.sample(scene), scene.node))
    else if (row.chain === undefined) samples[name].push(await row.sample(name, optionsOf(name)))
    else samples[name].push(await sampleFresh(row, name, optionsOf(name)))
  }

  for (const each of runs) {
    for (const name of shares(each.row) ? each.names : []) {
      await attempt(each, name, `${each.row.chain} chain`, async () => {
        if (!scenes.has(name)) scenes.set(name, await open(name, each.row.chain, optionsOf(name)))
        await each.row.prepare?.(scenes.get(name))
      })
    }
  }
  for (let round = 0; round < rounds; round++) {
    const due = runs.filter(({ row }) => round < (row.rounds ?? rounds))
    for (const name of turned([...new Set(due.flatMap(({ names }) => names))], round)) {
      for (const each of due) {
        if (!each.names.includes(name)) continue
        await attempt(each, name, `round ${round + 1}`, () => sample(each, name))
      }
    }
  }
  return runs.map(resultOf)
}

/**
 * @param {object[]} rows
 * @param {object} options
 * @param {string[]} options.nodes that may take part
 * @param {number} options.rounds
 * @param {(name: string) => string[]} options.nodeFlags flags of Node.js for a node
 * @param {(row: object) => void} options.onRow gets each row when it is done
 * @param {(text: string) => void} options.onProgress
 * @returns {Promise<object[]>} the rows in their order, with `nodes`: by name the kind, the summary and the samples
 *   (`list`), and `errors`: messages by name
 */
export async function run(rows, options) {
  const done = new Map()
  for (const group of groups(rows)) {
    const scenes = new Map()
    try {
      for (const together of inTurns(group)) {
        const results = await runRows(together, scenes, options)
        for (const [i, row] of together.entries()) done.set(row, results[i])
        results.forEach(options.onRow)
      }
    } finally {
      for (const scene of scenes.values()) await scene.node.stop()
    }
  }
  return rows.map((row) => done.get(row))
}
