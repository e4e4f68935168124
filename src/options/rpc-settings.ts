/** Settings of the methods: which are open, how they answer, and their limits. */
import {
  BYTES,
  GAS_BITS,
  LONGEST_INTERVAL,
  listOf,
  oneOf,
  quantity,
  same,
  text,
  whole,
  yesOrNo,
} from './kinds.ts'
import { setting } from './setting.ts'

/** Largest trace: sums of lengths stay below 2^31. */
const MOST_TRACE_BYTES = 2_000_000_000
/** Holds the struct logs of ten million gas in the reference node's format. */
const TRACE_ANSWER = 2 ** 31

/** A namespace or method, with a minus or plus before it. */
const METHOD_ENTRY = /^[-+]?[a-zA-Z0-9]+([._]\w+)?$/

/** Gas in gas, sizes in bytes, times in milliseconds. */
export const RPC_SETTINGS = {
  record: setting(text, {
    flag: '--record <file>',
    help: 'write every request, reply and event to this file, from which tandem replay repeats them; an existing file is replaced',
    fallback: undefined,
    fallbackText: 'none',
  }),
  profile: setting(oneOf('node', 'hosted'), {
    flag: '--profile <name>',
    help: 'node: every method, the limits of the reference node; hosted: methods and limits of the hosted service',
    fallback: 'node',
  }),
  dialect: setting(oneOf('rsk', 'hardhat', 'anvil'), {
    flag: '--dialect <name>',
    help: 'whose error codes and messages clients get for failed code (in traces too) and refused transactions, whose defaults eth_sendTransaction has, whose struct logs debug_trace* answers without a tracer, what safe and finalized are, what evm_increaseTime returns, and how the clock continues after evm_revert',
    fallback: 'rsk',
  }),
  hideRemasc: setting(yesOrNo, {
    flag: '--hide-remasc',
    help: 'leave the REMASC transaction out of blocks, counts, indexes, receipts of a block, logs and traces; hiddenTransactions names it',
    fallback: false,
  }),
  singleUseSnapshots: setting(yesOrNo, {
    flag: '--single-use-snapshots',
    help: 'evm_revert deletes the snapshot that it reverts to, unless that has a name or is kept, and ids are never reused',
    fallback: false,
  }),
  minedReverts: setting(oneOf('error', 'hash'), {
    flag: '--mined-reverts <answer>',
    help: 'answer to a transaction that is mined at once and fails: an error with the reason, or its hash',
    fallback: 'error',
  }),
  stackTraces: setting(oneOf('off', 'data', 'message'), {
    flag: '--stack-traces <where>',
    help: 'where replies to failed calls, estimates and transactions have the stack of the failure, if the sources of the contracts are known: off; data: in data.stack and data.stackTrace, with the revert data in data.data; message: also behind the message',
    fallback: 'off',
  }),
  stateOverride: setting(yesOrNo, {
    flag: '--no-state-override',
    help: 'refuse state overrides in calls, estimates, simulations and replays',
    fallback: true,
    rskjKeys: { 'rpc.allowCallStateOverride': same },
  }),
  clientVersion: setting(text, {
    flag: '--client-version <text>',
    help: 'what web3_clientVersion returns, for clients that look for a name in it',
    fallback: undefined,
    fallbackText: 'Tandem/<version>/<os>/<runtime>/EMULATOR',
  }),
  methods: setting(listOf(METHOD_ENTRY, 'names such as eth, evm_mine, -evm to close or +txpool to add one'), {
    flag: '--methods <names>',
    help: 'namespaces and methods to open (then nothing else is), with a minus to close, or with a plus to add to a profile',
    fallback: [],
    fallbackText: 'all of the profile',
  }),
  callGasCap: setting(quantity(0n, GAS_BITS), {
    flag: '--call-gas-cap <gas>',
    help: 'most gas that eth_call may use, or all calls of eth_simulateV1 together; 0 is no limit',
    fallback: 10_000_000n,
    rskjKeys: { 'rpc.callGasCap': same },
  }),
  gasEstimationCap: setting(quantity(0n, GAS_BITS), {
    flag: '--gas-estimation-cap <gas>',
    help: 'most gas that eth_estimateGas may try',
    fallback: 6_800_000n,
    rskjKeys: { 'rpc.gasEstimationCap': same },
  }),
  rpcTimeoutMs: setting(whole(0, LONGEST_INTERVAL * 1000), {
    flag: '--rpc-timeout <ms>',
    help: 'milliseconds that a request may take; 0 is no limit',
    fallback: 5000,
    rskjKeys: { 'rpc.timeout': same },
  }),
  maxResponseBytes: setting(whole(0, BYTES), {
    flag: '--max-response-size <bytes>',
    help: 'largest answer, in bytes; 0 is no limit',
    fallback: 10_485_760,
    rskjKeys: { 'rpc.maxResponseSize': same },
  }),
  maxBatch: setting(whole(1, 100_000), {
    flag: '--max-batch <count>',
    help: 'maximum number of requests in a batch',
    fallback: 50,
    fallbackText: '50, with hideRemasc 100',
    rskjKeys: { 'rpc.providers.web.max_batch_requests_size': same },
  }),
  maxLogBlocks: setting(whole(0, BYTES), {
    flag: '--max-log-blocks <count>',
    help: 'maximum number of blocks that eth_getLogs searches; in the hosted profile, the range that is searched without --max-logs; 0 is no limit',
    fallback: 5000,
    hosted: 2000,
    rskjKeys: { 'rpc.logs.maxBlocksToQuery': same },
  }),
  maxLogs: setting(whole(0, BYTES), {
    flag: '--max-logs <count>',
    help: 'maximum number of logs in an answer of eth_getLogs; the hosted profile applies it only beyond --max-log-blocks; 0 is no limit',
    fallback: 20_000,
    hosted: 10_000,
    rskjKeys: { 'rpc.logs.maxLogsToReturn': same },
  }),
  filterTimeoutMs: setting(whole(0, LONGEST_INTERVAL * 1000), {
    flag: '--filter-timeout <ms>',
    help: 'milliseconds after which a filter that is not polled is removed; 0 is never',
    fallback: 300_000,
  }),
  maxFilters: setting(whole(0, 1_000_000), {
    flag: '--max-filters <count>',
    help: 'maximum number of filters of one API key, or of all callers where no keys are in use; 0 is no limit',
    fallback: 1000,
  }),
  maxSubscriptions: setting(whole(0, 1_000_000), {
    flag: '--max-subscriptions <count>',
    help: 'maximum number of open subscriptions of one API key, or of one connection where no keys are in use; 0 is no limit',
    fallback: 1000,
  }),
  maxTraces: setting(whole(1, BYTES), {
    flag: '--max-traces <count>',
    help: 'most traces that trace_filter returns, and that it skips (hosted: skips up to 10000)',
    fallback: 10_000,
    hosted: 100,
    rskjKeys: { 'rpc.trace.maxTracesPerRequest': same },
  }),
  maxTraceBlocks: setting(whole(0, BYTES), {
    flag: '--max-trace-blocks <count>',
    help: 'most blocks that trace_filter looks at; 0 is no limit',
    fallback: 0,
    hosted: 2000,
  }),
  maxTraceBytes: setting(whole(1, MOST_TRACE_BYTES), {
    flag: '--max-trace-size <bytes>',
    help: 'most memory that one trace may take, in bytes; struct logs take a tenth of their length and less',
    fallback: 268_435_456,
  }),
  maxTraceAnswer: setting(whole(1, Number.MAX_SAFE_INTEGER), {
    flag: '--max-trace-answer <bytes>',
    help: 'largest answer with struct logs, in bytes',
    fallback: TRACE_ANSWER,
  }),
}
