/** Settings of the files that the command reads and writes for its node. */
import { text } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings of the command's files. */
export const FILE_SETTINGS = {
  init: setting(text, {
    flag: '--init <file>',
    help: "genesis of a new local chain: geth's form (config.chainId, alloc, timestamp, gasLimit) or the reference node's",
    fallback: undefined,
    fallbackText: "the network's own",
  }),
  state: setting(text, {
    flag: '--state <file>',
    help: 'state file of a chain in memory: loaded when it is there, and written with all blocks when the node ends',
    fallback: undefined,
    fallbackText: 'none',
  }),
}
