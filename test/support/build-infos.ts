/**
 * Build-infos in `fixtures/sources`: input and output of the npm package `solc` in the version of the file's name, recorded
 * from `compile` with the sources that each holds.
 */
import { readFileSync } from 'node:fs'
import type { Hex } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/node/node.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

export const COMPILERS = ['solc-0.4.26', 'solc-0.5.17', 'solc-0.8.24', 'solc-0.8.37-via-ir'] as const
/** The path of the source in each. */
export const FILE = 'contracts/Box.sol'

interface Bytecode {
  readonly object: string
  readonly linkReferences: Record<string, Record<string, { start: number; length: number }[]>>
}

export interface BuildInfo {
  readonly solcVersion: string
  readonly solcLongVersion: string
  readonly input: {
    readonly language: string
    readonly sources: Record<string, { content: string }>
    readonly settings: Record<string, unknown>
  }
  readonly output: {
    readonly contracts: Record<
      string,
      Record<
        string,
        { abi: unknown[]; metadata: string; evm: Record<'bytecode' | 'deployedBytecode', Bytecode> }
      >
    >
  }
}

/** A build-info by the name of its file. */
export function buildInfo(name: string): BuildInfo {
  return JSON.parse(readFileSync(new URL(`../../fixtures/sources/${name}.json`, import.meta.url), 'utf8'))
}

/** A word of arguments. */
export const word = (value: bigint | Hex): string => BigInt(value).toString(16).padStart(64, '0')

/** Deploys a contract of a build-info, with libraries by name and words of arguments. */
export async function deploy(
  node: Pick<Node, 'request'>,
  { output }: BuildInfo,
  name: string,
  { libraries = {}, words = [] }: { libraries?: Record<string, Hex>; words?: readonly (bigint | Hex)[] } = {},
): Promise<Hex> {
  const bytecode = output.contracts[FILE]?.[name]?.evm.bytecode as Bytecode
  let code = bytecode.object
  for (const [library, places] of Object.values(bytecode.linkReferences).flatMap(Object.entries)) {
    for (const { start, length } of places as { start: number; length: number }[]) {
      const address = (libraries[library] ?? '').slice(2)
      code = `${code.slice(0, 2 * start)}${address}${code.slice(2 * (start + length))}`
    }
  }
  const data = `0x${code}${words.map(word).join('')}`
  const hash = await node.request({
    method: 'eth_sendTransaction',
    params: [{ from: ALICE, data, gas: '0x4c4b40' }],
  })
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return (receipt as { contractAddress: Hex }).contractAddress
}
