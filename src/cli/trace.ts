/** `tandem trace`: one transaction of a running node as a call tree with its events and state changes. */
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { z } from 'zod'
import { readArtifacts } from '../abi/artifact-files.ts'
import { loadAbiCodec } from '../abi/codec.ts'
import { type AbiRegistry, createAbiRegistry } from '../abi/registry.ts'
import { fromHex, type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import type { Node } from '../node/node.ts'
import { paths } from '../options/kinds.ts'
import { callTreeLines, contractText, type TreeContext } from './call-tree-lines.ts'
import { printAll } from './line-writer.ts'
import { createRemote, DEFAULT_URL, type Remote } from './remote.ts'
import { WireCallTree, WireStateDiff } from './remote-trace.ts'
import { hidden } from './secrets.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings, type Settings } from './settings.ts'
import { callSources, sourceTraceLines, sourceTraceOf } from './source-trace.ts'
import type { Writers } from './start.ts'
import { stateDiffLines } from './state-diff-lines.ts'
import { coins } from './terminal-text.ts'

const Text = z.string().regex(/^0x[0-9a-f]*$/i)
const Receipt = z.looseObject({
  blockNumber: Text,
  blockHash: Text,
  transactionIndex: Text,
  gasUsed: Text,
  status: Text,
  effectiveGasPrice: Text.optional(),
})
type Receipt = z.output<typeof Receipt>

interface TraceOptions {
  readonly url: string
  readonly abi?: string
  readonly json?: true
}

/** Throws `invalid-options` unless the text is the hash of something. */
export function checkHash(text: string): Hex {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return lowerCaseHex(text)
  throw new NodeError(
    'invalid-options',
    `A transaction is named by its hash, 0x and 64 digits, not by "${text}".`,
  )
}

/** The registry of the artifacts under these paths, separated by commas. */
async function namesUnder(list: string | undefined): Promise<AbiRegistry> {
  const names = createAbiRegistry()
  if (list === undefined) return names
  for (const artifact of await readArtifacts(paths.fromText(list) as string[])) await names.add(artifact)
  return names
}

async function receiptOf(remote: Remote, hash: Hex): Promise<Receipt> {
  const receipt = await remote.call('eth_getTransactionReceipt', [hash], Receipt.nullable())
  if (receipt !== null) return receipt
  const pooled = await remote.call('eth_getTransactionByHash', [hash], z.unknown().nullable())
  const problem = pooled === null ? `knows no transaction ${hash}` : `has not mined transaction ${hash} yet`
  throw new NodeError('internal', `The node at ${remote.shown} ${problem}.`)
}

function addressesIn({ to, calls }: CallFrame): Hex[] {
  return [...(to === undefined ? [] : [to]), ...calls.flatMap(addressesIn)]
}

/** Code by address, where ABIs are registered that it could match. */
async function codesOf(root: CallFrame, names: AbiRegistry, remote: Remote): Promise<Map<Hex, Uint8Array>> {
  const codes = new Map<Hex, Uint8Array>()
  if (names.isEmpty) return codes
  for (const address of new Set(addressesIn(root))) {
    const code = await remote.call('eth_getCode', [address, 'latest'], Text)
    if (code.length > 2) codes.set(address, fromHex(code))
  }
  return codes
}

function headLines(hash: Hex, receipt: Receipt, root: CallFrame): string[] {
  const row = (name: string, value: string) => `${pc.dim(name.padEnd(12))} ${value}`
  const { blockNumber, blockHash, transactionIndex, gasUsed, status, effectiveGasPrice } = receipt
  const price = effectiveGasPrice === undefined ? '' : `, ${BigInt(effectiveGasPrice)} wei each`
  return [
    row('Transaction', pc.yellow(hash)),
    row('Block', `${BigInt(blockNumber)} ${pc.dim(blockHash)}, index ${BigInt(transactionIndex)}`),
    row('From', root.from),
    row('Value', coins(root.value)),
    row('Gas', `${BigInt(gasUsed)} of ${root.gas}${price}`),
    row('Status', BigInt(status) === 1n ? pc.green('succeeded') : pc.red('failed')),
  ]
}

async function trace(hash: Hex, remote: Remote, options: TraceOptions, { output }: Writers): Promise<void> {
  const names = await namesUnder(options.abi)
  const receipt = await receiptOf(remote, hash)
  const traced = (tracer: string, tracerConfig: object) => [hash, { tracer, tracerConfig }] as const
  const callTracer = traced('callTracer', { withLog: true })
  const prestateTracer = traced('prestateTracer', { diffMode: true })
  if (options.json) {
    const calls = await remote.call('debug_traceTransaction', callTracer, z.unknown())
    const state = await remote.call('debug_traceTransaction', prestateTracer, z.unknown())
    const sources = (await sourceTraceOf(hash, remote)) ?? null
    output.write(JSON.stringify({ receipt, calls, state, sources }))
    return
  }
  const root = await remote.call('debug_traceTransaction', callTracer, WireCallTree)
  const diff = await remote.call('debug_traceTransaction', prestateTracer, WireStateDiff)
  const codes = await codesOf(root, names, remote)
  const sources = await sourceTraceOf(hash, remote)
  const context: TreeContext = {
    names,
    codec: await loadAbiCodec(),
    codeOf: (address) => codes.get(address),
    ...(sources && { sourceOf: callSources(sources) }),
  }
  const changes = stateDiffLines(diff, (address) => contractText(address, context))
  const lines = [
    ...headLines(hash, receipt, root),
    '',
    ...callTreeLines(root, context),
    ...(sources ? sourceTraceLines(sources) : []),
    ...(changes.length === 0 ? [] : ['', pc.bold('State changes'), ...changes]),
  ]
  await printAll(lines, output)
}

/** Settings of the fork on which a transaction of another node is traced. */
const FORK_FLAGS = [
  'fork',
  'forkChainId',
  'forkHeader',
  'forkTimeoutMs',
  'forkRetries',
  'forkRate',
  'forkCacheDir',
  'forkCache',
  'forkOffline',
] as const

/** A node in this process with the interface of a remote one. */
function remoteOf(node: Node, shown: string): Remote {
  return {
    shown,
    async call(method, params, result) {
      const found = await node.request({ method, params }).catch((error: Error) => {
        throw new NodeError('internal', `${method} was refused: ${error.message}`)
      })
      return result.parse(found)
    },
  }
}

/** Executes the transaction here, on the state before it: the other node need not support traces. */
async function traceOnFork(
  hash: Hex,
  { node: given }: Settings,
  options: TraceOptions,
  writers: Writers,
): Promise<void> {
  const { createNode } = await import('../node/node.ts')
  const abi = options.abi === undefined ? [] : (paths.fromText(options.abi) as string[])
  const node = await createNode({ ...given, abi, mining: 'manual', rpcTimeoutMs: 0 })
  try {
    await trace(hash, remoteOf(node, node.engine.fork?.remote.upstream.origin ?? ''), options, writers)
  } finally {
    await node.close()
  }
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillTraceCommand(command: Command, writers: Writers): void {
  command
    .argument('<hash>', 'hash of the transaction')
    .addOption(hidden(new Option('--url <url>', 'where the node answers').default(DEFAULT_URL)))
    .option(
      '--abi <paths>',
      'ABI files, artifact folders, Hardhat or Foundry projects: names for what is printed',
    )
    .option('--json', 'print the receipt, both traces and what the sources say as JSON')
    .action((given: string, options: TraceOptions) => {
      const hash = checkHash(given)
      const typed = typedFlags(command)
      if (!typed.has('fork')) return trace(hash, createRemote(options.url), options, writers)
      return traceOnFork(
        hash,
        readSettings(typed, process.env, new Map([['memory', true]])),
        options,
        writers,
      )
    })
  addSettingFlags(command, FORK_FLAGS)
}
