/** Stacks with gas, as a tree for the flame graph. */
import { type Checked, isNumber, isText, listOf, objectOf } from './checks.ts'

/** `evm_gasProfile`. */
export const isGasProfile = objectOf({
  gasUsed: isNumber,
  refunds: isNumber,
  frames: listOf(objectOf({ name: isText }, { file: isText, line: isNumber })),
  stacks: listOf(objectOf({ frames: listOf(isNumber), gas: isNumber })),
})
/** Where the gas of a transaction went. */
export type GasProfile = Checked<typeof isGasProfile>

/** A function, or a line of it, with what it called. */
export interface FlameNode {
  readonly name: string
  /** `file:line`; empty where it is not known. */
  readonly place: string
  /** Gas, with that of its children. */
  total: number
  readonly children: FlameNode[]
}

function childOf(parent: FlameNode, { frames }: GasProfile, index: number): FlameNode {
  const frame = frames[index]
  const name = frame?.name ?? ''
  const place = frame?.file === undefined ? '' : `${frame.file}:${frame.line ?? 0}`
  const known = parent.children.find((child) => child.name === name && child.place === place)
  if (known !== undefined) return known
  const made: FlameNode = { name, place, total: 0, children: [] }
  parent.children.push(made)
  return made
}

/** The tree of a profile; the root is the transaction. Children are in the order of their gas. */
export function flameTree(profile: GasProfile): FlameNode {
  const root: FlameNode = { name: 'transaction', place: '', total: 0, children: [] }
  for (const { frames, gas } of profile.stacks) {
    // What got back more than it spent has no width.
    if (gas <= 0) continue
    let node = root
    node.total += gas
    for (const index of frames) {
      node = childOf(node, profile, index)
      node.total += gas
    }
  }
  sort(root)
  return root
}

function sort(node: FlameNode): void {
  node.children.sort((a, b) => b.total - a.total)
  for (const child of node.children) sort(child)
}

/** A frame as it is drawn: its row, and its place in percent of the width. */
export interface FlameBox {
  readonly node: FlameNode
  /** The path of indexes from the root, which names the frame. */
  readonly path: readonly number[]
  readonly row: number
  readonly left: number
  readonly width: number
}

/** Frames narrower than this, in percent, are not drawn. */
const NARROWEST = 0.2
const MOST_ROWS = 64

/** The node at a path; the root where there is none. */
export function nodeAt(root: FlameNode, path: readonly number[]): FlameNode {
  let node = root
  for (const index of path) node = node.children[index] ?? node
  return node
}

/** The frames below one that takes the whole width: those above it, it, and those that it called. */
export function flameBoxes(root: FlameNode, zoomed: readonly number[]): FlameBox[] {
  const boxes: FlameBox[] = []
  for (let row = 0; row < zoomed.length; row++) {
    const path = zoomed.slice(0, row)
    boxes.push({ node: nodeAt(root, path), path, row, left: 0, width: 100 })
  }
  const add = (node: FlameNode, path: readonly number[], left: number, width: number) => {
    if (width < NARROWEST || path.length > MOST_ROWS) return
    boxes.push({ node, path, row: path.length, left, width })
    let from = left
    for (const [index, child] of node.children.entries()) {
      const share = node.total === 0 ? 0 : (child.total / node.total) * width
      add(child, [...path, index], from, share)
      from += share
    }
  }
  add(nodeAt(root, zoomed), zoomed, 0, 100)
  return boxes
}
