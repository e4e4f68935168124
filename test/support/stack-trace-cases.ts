/**
 * The stack-trace cases of EDR in `fixtures/stack-traces` (its README names their source), run on a node, with the expected
 * frames in EDR's terms.
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { AbiCoder, getAddress, Interface, isAddress } from 'ethers'
import { type AbiValue, loadAbiCodec } from '../../src/abi/codec.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { TraceBudget } from '../../src/evm/tracing/trace-budget.ts'
import type { Node } from '../../src/node/node.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { MessageRecorder, type RecordedMessage } from '../../src/source-level/message-recorder.ts'
import type { StackFrame } from '../../src/source-level/stack/stack-frame.ts'
import { StackTracer } from '../../src/source-level/stack/stack-trace.ts'
import { fill, templateOf } from '../../src/sources/code-template.ts'
import { type Compilation, contractsOf } from '../../src/sources/compilation.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'

/** A frame as the cases expect it. */
export interface ExpectedFrame {
  readonly type: string
  readonly sourceReference?: {
    readonly contract?: string
    readonly file: string
    readonly function?: string
    readonly line: number
  }
  readonly message?: string
  readonly value?: string | number
  readonly errorCode?: string
}

interface CaseTransaction {
  readonly file?: string
  readonly contract?: string
  readonly libraries?: Record<string, Record<string, number>>
  readonly to?: number
  readonly function?: string
  readonly data?: string
  readonly params?: readonly (string | number)[]
  readonly value?: string | number
  readonly gas?: number
  readonly stackTrace?: readonly ExpectedFrame[]
}

interface Case {
  readonly transactions: readonly CaseTransaction[]
  readonly sources: Record<string, { content: string }>
}

interface Bytecode {
  readonly object: string
  readonly linkReferences: Record<string, Record<string, { start: number }[]>>
}

type Contracts = Record<
  string,
  Record<
    string,
    { abi: { type: string; name?: string; inputs: { type: string }[] }[]; evm: { bytecode: Bytecode } }
  >
>

type CompiledContract = Contracts[string][string]

interface Compiled {
  readonly solcVersion: string
  readonly settings: object
  readonly outputs: Record<string, { contracts: Contracts }>
}

function packed<T>(name: string): T {
  const file = new URL(`../../fixtures/stack-traces/${name}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

let cases: Record<string, Case> | undefined

/** The sources, transactions and expected frames by name. */
export function stackTraceCases(): Record<string, Case> {
  cases ??= packed<Record<string, Case>>('cases')
  return cases
}

/** What a compiler made of the cases. */
export function compiledCases(compiler: string): Compiled {
  return packed<Compiled>(`solc-${compiler}`)
}

const SENDER = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const coder = AbiCoder.defaultAbiCoder()
const GAS = 4_000_000

/** A case as its transactions ran. */
export interface CaseRun {
  readonly name: string
  readonly expected: readonly ExpectedFrame[]
  readonly frames: readonly StackFrame[]
  readonly message: RecordedMessage
}

/** A case as a build-info. */
export function caseBuildInfo(name: string, { solcVersion, settings, outputs }: Compiled): object {
  const { sources } = stackTraceCases()[name] as Case
  return { solcVersion, input: { language: 'Solidity', sources, settings }, output: outputs[name] }
}

/** Finds the maps of the codes that a message ran, by the contracts of one compilation. */
export function codesIn(
  compilation: Compilation,
): (message: RecordedMessage) => ReturnType<CompilationMap['code']> {
  const map = new CompilationMap(compilation)
  const deployed = [...contractsOf(compilation)].map(({ file, name, contract }) => ({
    file,
    name,
    template: templateOf(contract.evm.deployedBytecode),
  }))
  return ({ code, kind }) => {
    if (code === undefined) return undefined
    const isCreation = kind === 'create' || kind === 'create2'
    const kindOf = (one: (typeof deployed)[number]) => fill(one.template, code)?.kind
    const found = isCreation
      ? map.creationOf(code)
      : (deployed.find((one) => kindOf(one) === 'exact') ?? deployed.find((one) => kindOf(one) === 'partial'))
    // Of these contracts the sources are unknown to the cases.
    if (found?.name.startsWith('Ignored')) return undefined
    return found && map.code(found, isCreation)
  }
}

/** A value as Hardhat shows it. */
function hardhatText(value: AbiValue): string {
  if (Array.isArray(value)) return `[${value.map(hardhatText).join(', ')}]`
  if (value instanceof Uint8Array) return `"${toHex(value)}"`
  if (typeof value !== 'string') return String(value)
  return `"${isAddress(value) ? getAddress(value) : value}"`
}

const weiOf = ({ value }: CaseTransaction): Hex => `0x${BigInt(value ?? 0).toString(16)}`

/** Runs the transactions of a case and yields those that fail, with their frames. */
export async function* runCase(node: Node, name: string, compiled: Compiled): AsyncGenerator<CaseRun> {
  const { transactions } = stackTraceCases()[name] as Case
  const contracts = compiled.outputs[name]?.contracts as Contracts
  const compilation = readCompilation(caseBuildInfo(name, compiled))
  const codeOf = codesIn(compilation)
  const codec = await loadAbiCodec()
  const deployed = new Map<number, { address: Hex; abi: CompiledContract['abi'] }>()

  function contractOf(file = '', name = ''): CompiledContract {
    const found = contracts[file]?.[name]
    if (found === undefined) throw new Error(`${file}:${name} is not compiled`)
    return found
  }

  function deployment({ file = '', contract = '', libraries = {}, params = [] }: CaseTransaction): Hex {
    const { abi, evm } = contractOf(file, contract)
    let code = evm.bytecode.object
    for (const [path, linked] of Object.entries(evm.bytecode.linkReferences)) {
      for (const [library, places] of Object.entries(linked)) {
        const { address } = deployed.get(libraries[path]?.[library] as number) as { address: Hex }
        for (const { start } of places) {
          code = `${code.slice(0, 2 * start)}${address.slice(2)}${code.slice(2 * start + 40)}`
        }
      }
    }
    const inputs = abi.find(({ type }) => type === 'constructor')?.inputs ?? []
    const args =
      params.length === 0
        ? ''
        : coder
            .encode(
              inputs.map(({ type }) => type),
              params,
            )
            .slice(2)
    return `0x${code}${args}`
  }

  function callData({ data, function: called, params = [], to }: CaseTransaction): Hex {
    if (data !== undefined) return data as Hex
    if (called === undefined) return '0x'
    const { abi } = deployed.get(to as number) as { abi: CompiledContract['abi'] }
    const entry = abi.find((one) => one.name === called && one.inputs.length === params.length)
    return new Interface(JSON.stringify([entry])).encodeFunctionData(called, params) as Hex
  }

  for (const [index, transaction] of transactions.entries()) {
    const isDeployment = transaction.file !== undefined
    const to = isDeployment ? undefined : deployed.get(transaction.to as number)?.address
    const data = isDeployment ? deployment(transaction) : callData(transaction)
    const gas = transaction.gas ?? GAS
    if (transaction.stackTrace === undefined) {
      const hash = await node.request({
        method: 'eth_sendTransaction',
        params: [{ from: SENDER, to, data, value: weiOf(transaction), gas: `0x${gas.toString(16)}` }],
      })
      if (!isDeployment) continue
      const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      const { abi } = contractOf(transaction.file, transaction.contract)
      deployed.set(index, { address: (receipt as { contractAddress: Hex }).contractAddress, abi })
      continue
    }
    const recorder = new MessageRecorder(new TraceBudget(1 << 28))
    await node.engine.queries.traceCall(
      {
        from: SENDER,
        ...(to && { to }),
        data: fromHex(data),
        value: BigInt(weiOf(transaction)),
        gas: BigInt(gas),
      },
      { tag: 'latest' },
      recorder,
    )
    const message = recorder.root as RecordedMessage
    const tracer = new StackTracer({
      codeOf,
      errorText({ code, message: { output } }) {
        const entry = code.entry('error', Buffer.from(output.subarray(0, 4)).toString('hex'))
        const values = entry && codec.decode(entry.inputs, output.subarray(4))
        if (entry === undefined || values === undefined) return undefined
        return `reverted with custom error '${entry.name}(${values.map(hardhatText).join(', ')})'`
      },
      fitsArguments: ({ inputs }, input) => codec.decode(inputs, input.subarray(4)) !== undefined,
    })
    yield {
      name: `${name} #${index}`,
      expected: transaction.stackTrace,
      frames: tracer.trace(message),
      message,
    }
  }
}
