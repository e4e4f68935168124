/** Settings of the node's limits: time of a method, depth of a message, concurrent calls. */
import { timesByName, whole } from './kinds.ts'
import { setting } from './setting.ts'

/**
 * Keys of the reference node's configuration: a module's limit, and that of one method in it
 * (docs/internals/rpc-reference.md#27-timeouts).
 */
const MODULE_TIMEOUT = /^rpc\.modules\.(\w+)\.timeout$/
const METHOD_TIMEOUT = /^rpc\.modules\.(\w+)\.methods\.timeout\.(\w+)$/

/** Times in milliseconds, the rest counts. */
export const LIMIT_SETTINGS = {
  methodTimeouts: setting(timesByName, {
    flag: '--method-timeouts <limits>',
    help: 'milliseconds for a call of a method or namespace, such as eth_call=2000,trace=10000; 0 is no limit',
    fallback: {},
    fallbackText: 'that of --rpc-timeout',
    memberKey(key) {
      const [, module, name] = METHOD_TIMEOUT.exec(key) ?? []
      if (name !== undefined) return `${module}_${name}`
      return MODULE_TIMEOUT.exec(key)?.[1] ?? /^methodTimeouts\.(\w+)$/.exec(key)?.[1]
    },
  }),
  maxDepth: setting(whole(1, 1000), {
    flag: '--max-depth <count>',
    help: 'deepest nesting of arrays and objects in a message',
    fallback: 1000,
  }),
  maxPending: setting(whole(1, 1_000_000), {
    flag: '--max-pending <count>',
    help: 'maximum number of messages answered at once; further ones are refused with HTTP status 503',
    fallback: 4096,
  }),
  maxHeavy: setting(whole(1, 10_000), {
    flag: '--max-heavy <count>',
    help: 'maximum number of simulations, traces and log queries that run at once; one caller gets at most half',
    fallback: 16,
  }),
  maxHeavyWaiting: setting(whole(0, 1_000_000), {
    flag: '--max-heavy-waiting <count>',
    help: 'maximum number of those that wait to run, of one caller at most half; further ones are refused',
    fallback: 4096,
    hosted: 128,
  }),
}
