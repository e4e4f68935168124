/** Verification by sources that the node compiles: its API of Etherscan, where the node serves that and finds a compiler. */
import { isText, listOf, objectOf } from './checks.ts'
import { apiFor } from './client.ts'
import type { Hex } from './format.ts'
import { forgetNames } from './names.ts'
import { version } from './store.ts'

/** Milliseconds between questions about a verification. */
const POLL_MS = 500
const PENDING = 'Pending in queue'
const VERIFIED = 'Pass - Verified'

const isConfig = objectOf({ solidity_compiler_versions: listOf(isText) })
const isReply = objectOf({ status: isText, result: isText }, { details: isText })

/** The versions of the compilers that the node can use, such as `v0.8.24`; none where its APIs are closed. */
export async function loadCompilers(signal?: AbortSignal): Promise<readonly string[]> {
  const path = '/api/v2/smart-contracts/verification/config'
  const config = await apiFor(isConfig, path, signal && { signal }).catch(() => undefined)
  return config?.solidity_compiler_versions ?? []
}

/** What is compiled. */
export interface SourceForm {
  /** Solidity, or the input of the compiler in JSON. */
  readonly source: string
  readonly contract: string
  readonly compiler: string
  /** Of the optimiser; empty without it. */
  readonly runs: string
  readonly evmVersion: string
  /** Constructor arguments in hex. */
  readonly words: string
}

function membersOf(address: Hex, form: SourceForm): Record<string, string> {
  const isStandard = form.source.trimStart().startsWith('{')
  return {
    module: 'contract',
    action: 'verifysourcecode',
    contractaddress: address,
    sourceCode: form.source,
    codeformat: isStandard ? 'solidity-standard-json-input' : 'solidity-single-file',
    contractname: form.contract.trim(),
    compilerversion: form.compiler,
    optimizationUsed: form.runs.trim() === '' ? '0' : '1',
    runs: form.runs.trim(),
    evmversion: form.evmVersion.trim(),
    constructorArguments: form.words.trim(),
  }
}

/** Has the node compile and compare; resolves when the contract is verified. Throws an Error with the reason. */
export async function verifySource(address: Hex, form: SourceForm): Promise<void> {
  const body = new URLSearchParams(membersOf(address, form))
  const submitted = await apiFor(isReply, '/api', { method: 'POST', body })
  if (submitted.status !== '1') throw new Error(submitted.result)
  const query = new URLSearchParams({
    module: 'contract',
    action: 'checkverifystatus',
    guid: submitted.result,
  })
  for (;;) {
    const { result, details } = await apiFor(isReply, `/api?${query}`)
    if (result === VERIFIED) break
    if (result !== PENDING) throw new Error(details === undefined ? result : `${result}: ${details}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  forgetNames()
  version.value++
}
