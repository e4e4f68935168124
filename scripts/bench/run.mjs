/** Runs rows on nodes, interleaved round by round, and keeps what they measured. */
import { measure } from './measure.mjs'
import { NODES } from './nodes.mjs'
import { HTTP_NODES } from './rows.mjs'
import { open } from './scenes.mjs'
import { summarize } from './statistics.mjs'

/** Measures one sample: a finished one, or operations that a node carries out. */
async function measured(sample, node) {
  return sample.work === undefined ? sample : measure(sample, node.cpuMs)
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

/** The rows in order, those on the same kind of chain that several rows share together. */
function groups(rows) {
  const found = []
  for (const row of rows) {
    const shared = row.chain === 'warm' || row.chain === 'long'
    const group = found.find(({ chain, traces }) => shared && chain === row.chain && traces === row.traces)
    if (group) group.rows.push(row)
    else found.push({ chain: row.chain, traces: row.traces, shared, rows: [row] })
  }
  return found
}

/**
 * @param {object[]} rows
 * @param {object} options
 * @param {string[]} options.nodes that may take part
 * @param {number} options.rounds
 * @param {(name: string) => string[]} options.nodeFlags flags of Node.js for a node
 * @param {(row: object) => void} options.onRow gets each row when it is done
 * @param {(text: string) => void} options.onProgress
 * @returns {Promise<object[]>} the rows with `nodes`: summaries by name, and `errors`: messages by name
 */
export async function run(rows, { nodes, rounds, nodeFlags, onRow, onProgress }) {
  const done = new Map()
  for (const group of groups(rows)) {
    const scenes = new Map()
    try {
      for (const row of group.rows) {
        const names = (row.nodes ?? HTTP_NODES).filter((name) => nodes.includes(name))
        const samples = Object.fromEntries(names.map((name) => [name, []]))
        const errors = {}
        const optionsOf = (name) => ({ traces: row.traces, nodeFlags: nodeFlags(name) })
        /** Runs work of a node; a failure ends its part of the row. */
        const attempt = async (name, work) => {
          if (errors[name] !== undefined) return
          try {
            await work()
          } catch (error) {
            errors[name] = error.message
          }
        }
        for (const name of names) {
          await attempt(name, async () => {
            if (!group.shared) return
            if (!scenes.has(name)) {
              onProgress(`${name}: preparing a ${row.chain} chain`)
              scenes.set(name, await open(name, row.chain, optionsOf(name)))
            }
            await row.prepare?.(scenes.get(name))
          })
        }
        for (let round = 0; round < Math.min(rounds, row.rounds ?? rounds); round++) {
          // Each round begins with another node, so that none always follows the same one.
          const turn = round % names.length
          for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
            onProgress(`${row.name}, round ${round + 1}: ${name}`)
            await attempt(name, async () => {
              const scene = scenes.get(name)
              if (scene) samples[name].push(await measured(await row.sample(scene), scene.node))
              else if (row.chain === undefined) samples[name].push(await row.sample(name, optionsOf(name)))
              else samples[name].push(await sampleFresh(row, name, optionsOf(name)))
            })
          }
        }
        const results = Object.entries(samples).filter(([, list]) => list.length > 0)
        const { name, title, operation, figure, limits } = row
        const summaries = results.map(([node, list]) => [
          node,
          { kind: NODES[node].kind, ...summarize(list), list },
        ])
        const result = {
          name,
          title,
          operation,
          figure,
          limits,
          nodes: Object.fromEntries(summaries),
          errors,
        }
        done.set(row, result)
        onRow(result)
      }
    } finally {
      for (const scene of scenes.values()) await scene.node.stop()
    }
  }
  return rows.map((row) => done.get(row))
}
