/** What one caller may reach of a node: its methods within the allowed groups, and the way to them. */
import type { ToolGroup } from '../options/mcp-settings.ts'
import type { AnyMethod } from '../rpc/method.ts'
import type { Answers } from './answers.ts'
import type { NodeCaller } from './node-caller.ts'

/** The access of one caller. */
export interface Access {
  readonly node: NodeCaller
  /** The methods that are open to the caller on that node, those of groups that are not allowed among them. */
  readonly methods: readonly AnyMethod[]
  readonly groups: ReadonlySet<ToolGroup>
  readonly answers: Answers
  /** The name of the caller's key; empty where no keys are in use. */
  readonly owner: string
  /** How a person allows more groups, as the end of a message: `start the node with --mcp-allow test`. */
  readonly howToAllow: (group: ToolGroup) => string
}
