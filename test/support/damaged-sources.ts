/** Build-infos that are damaged, each in its way. */
import { caseBuildInfo, compiledCases } from './stack-trace-cases.ts'

/** The case whose build-info is damaged. */
export const CASE = '0_8/call-message/external-calls/try-catch-and-back-and-forth'
/** What a compiler made of all cases. */
export const compiled = compiledCases('0.8.35')

/** Parts of a build-info that the tests damage. */
export interface BuildInfo {
  solcVersion: string
  input: { sources: Record<string, { content?: string }> }
  output: {
    sources: Record<string, { id?: unknown; ast?: unknown }>
    contracts: Record<
      string,
      Record<string, { abi: unknown[]; evm: Record<string, Record<string, unknown>> }>
    >
  }
}

/** A build-info that nothing has damaged. */
export const fresh = (): BuildInfo => structuredClone(caseBuildInfo(CASE, compiled)) as BuildInfo
/** Creation codes and deployed codes of all contracts. */
export const codes = ({ output }: BuildInfo) =>
  Object.values(output.contracts)
    .flatMap(Object.values)
    .flatMap(({ evm }) => [evm.bytecode, evm.deployedBytecode] as Record<string, unknown>[])

/** A list that nests itself as deep as a stack would overflow at. */
function deep(depth: number): object {
  let node: object = { nodeType: 'ContractDefinition' }
  for (let i = 0; i < depth; i++) node = { nodeType: 'ContractDefinition', nodes: [node] }
  return node
}

/** Damages by what they leave. */
export const DAMAGES: Record<string, (info: BuildInfo) => void> = {
  'maps that are cut off': (info) => {
    for (const code of codes(info)) code.sourceMap = String(code.sourceMap).slice(0, 50)
  },
  'maps of nonsense': (info) => {
    for (const code of codes(info)) code.sourceMap = '-1:99999999:7:i;'.repeat(500)
  },
  'ranges behind the end of the source': (info) => {
    for (const code of codes(info)) code.sourceMap = '4000000:9:0:i;4000000:9:1:o;'
  },
  'no maps': (info) => {
    for (const code of codes(info)) code.sourceMap = { not: 'a text' }
  },
  'no syntax trees': (info) => {
    for (const source of Object.values(info.output.sources)) delete source.ast
  },
  'trees of nonsense': (info) => {
    for (const source of Object.values(info.output.sources)) source.ast = { nodes: [null, 7, 'x', deep(500)] }
  },
  'contracts that inherit each other': (info) => {
    const text = JSON.stringify(info.output.sources)
    info.output.sources = JSON.parse(
      text.replaceAll(/"linearizedBaseContracts":\[\d+\]/g, '"linearizedBaseContracts":[1,2,3,1]'),
    )
  },
  'no texts of sources': (info) => {
    for (const source of Object.values(info.input.sources)) source.content = ''
  },
  'ids of sources that are no numbers': (info) => {
    for (const source of Object.values(info.output.sources)) source.id = '0'
  },
  'an unreadable ABI': (info) => {
    for (const contract of Object.values(info.output.contracts).flatMap(Object.values))
      contract.abi = [7, null]
  },
  'another version': (info) => {
    info.solcVersion = 'no version'
  },
}
