/** The contracts of `fixtures/debugger` on a node: deployed, called, and opened in a debugger. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { AbiCoder, Interface, type ParamType } from 'ethers'
import type { DebugSession } from '../../src/debugger/debug-session.ts'
import type { Value } from '../../src/debugger/value.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { OpenDebugSession } from '../../src/engine/sources/debugger.ts'
import { createNode, type Node } from '../../src/node/node.ts'

/** The first account of a local node. */
export const SENDER = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

interface BuildInfo {
  readonly output: {
    readonly contracts: Record<
      string,
      Record<
        string,
        {
          readonly abi: []
          readonly storageLayout?: object
          readonly evm: { readonly bytecode: { readonly object: string } }
        }
      >
    >
  }
}

/** A build-info of `fixtures/debugger` (its README names how they were made). */
export function debuggerBuild(name: string): BuildInfo {
  const file = new URL(`../../fixtures/debugger/${name}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

/** Sends a transaction; its hash. It may fail. */
export async function sendTo(
  node: Node,
  transaction: { readonly from?: Hex; readonly to?: Hex; readonly data: string },
): Promise<Hex> {
  const sent = { from: SENDER, gas: '0x67c280', ...transaction }
  try {
    return (await node.request({ method: 'eth_sendTransaction', params: [sent] })) as Hex
  } catch (error) {
    // It failed, and is mined.
    const latest = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
    const [hash] = (latest as { transactions: Hex[] }).transactions
    if (hash === undefined) throw error
    return hash
  }
}

/** Opens a mined transaction. */
export async function debugged({ engine }: Node, hash: Hex): Promise<OpenDebugSession> {
  const { block, index } = engine.queries.transaction(hash) ?? {}
  if (block === undefined || index === undefined) throw new Error(`${hash} is not mined`)
  const opened = await engine.debugger.open({ kind: 'transaction', block, index })
  if (opened === undefined) throw new Error(`${hash} runs no code`)
  return opened
}

/** A node that knows the sources of a build-info, with its contract deployed. */
export class DebuggerCase {
  readonly node: Node
  readonly interface: Interface
  readonly #object: string

  private constructor(node: Node, build: BuildInfo, contract: string) {
    this.node = node
    const { abi, evm } = build.output.contracts[`${contract}.sol`]?.[contract] ?? { abi: [], evm: undefined }
    this.interface = new Interface(abi)
    this.#object = evm?.bytecode.object ?? ''
  }

  /** Opens a node for a build-info, which may be damaged before. */
  static async open(name: string, damage: (build: BuildInfo) => void = () => {}): Promise<DebuggerCase> {
    const node = await createNode()
    const build = debuggerBuild(name)
    damage(build)
    await node.request({ method: 'evm_addSources', params: [build] })
    return new DebuggerCase(node, build, name.split('-')[0] ?? '')
  }

  /** Sends a transaction; its hash. It may fail. */
  send(transaction: { readonly to?: Hex; readonly data: string }): Promise<Hex> {
    return sendTo(this.node, transaction)
  }

  async deploy(...args: readonly unknown[]): Promise<{ readonly hash: Hex; readonly address: Hex }> {
    const data = `0x${this.#object}${this.interface.encodeDeploy(args).slice(2)}`
    const hash = await this.send({ data })
    const receipt = await this.node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    return { hash, address: (receipt as { contractAddress: Hex }).contractAddress }
  }

  call(to: Hex, name: string, ...args: readonly unknown[]): Promise<Hex> {
    return this.send({ to, data: this.interface.encodeFunctionData(name, args) })
  }

  /** Opens a mined transaction. */
  debug(hash: Hex): Promise<OpenDebugSession> {
    return debugged(this.node, hash)
  }
}

/** A value and its parts as plain data. */
export function plain(value: Value): unknown {
  if (value.size === 0) {
    const isEmpty = /\]( (memory|storage|calldata))?$/.test(value.type)
    return isEmpty ? [] : value.text
  }
  const parts = value.parts(0, value.size)
  if (/\]( (memory|storage|calldata))?$/.test(value.type)) return parts.map(plain)
  return Object.fromEntries(parts.map((part) => [part.name, plain(part)]))
}

/** A decoded value as the debugger shows it. */
function shown(type: ParamType | string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => shown(String(type).replace(/\[\d*\]$/, ''), one))
  if (String(type) === 'string') return JSON.stringify(value)
  return String(value).startsWith('0x') ? String(value).toLowerCase() : String(value)
}

/** The variables that an event of a fixture has, as the contract itself encoded them. */
export function loggedVariables(data: Uint8Array): Readonly<Record<string, unknown>> {
  const coder = AbiCoder.defaultAbiCoder()
  const [names, values] = coder.decode(['string', 'bytes'], data)
  const variables = String(names)
    .split(', ')
    .map((one) => one.split(' ') as [string, string])
  const decoded = coder.decode(
    variables.map(([type]) => type),
    values,
  )
  return Object.fromEntries(
    variables.map(([type, name], index) => [name, shown(type, asArray(decoded[index]))]),
  )
}

function asArray(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
    ? [...(value as Iterable<unknown>)]
    : value
}

/** The locals of the innermost frame by name; `undefined` where they are not known. */
export function shownLocals(session: DebugSession, frame = 0): Record<string, unknown> | undefined {
  const found = session.variables(frame, 'locals')
  return found && Object.fromEntries(found.map((value) => [value.name, plain(value)]))
}
