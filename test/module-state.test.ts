/** What the modules of `src` keep for the whole process: only what is listed here, each with the reason and its bound. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))

/** A declaration of a module, which the formatter puts at the beginning of a line. */
const DECLARATION = /^(?:export )?(const|let|var) (\w+)(.*)$/gm
/** What is there to be written to: containers that begin empty, and those of a fixed size. */
const CONTAINER =
  /= (\[\]|\{\}|\{.*\[\].*\}|new (Map|Set|WeakMap|WeakSet|LRUCache|RecentMap|AsyncLocalStorage|FinalizationRegistry)(<.*>)?\((\)|\{|\w+\))|new (\w*Array|ArrayBuffer)\(|Buffer\.alloc|roomFor\()/
/** Written to by nobody: empty by its type, or named as a constant. */
const CONSTANT = /^(: (Readonly|readonly )(?!.*\[\] \}$)|$)/

/** What the process keeps, and why it neither grows with what was seen nor carries anything from one node to another. */
const KEPT: Readonly<Record<string, string>> = {
  'abi/codec.ts: loading': 'the library, loaded once',
  'abi/console.ts: forms': 'a constant, made when it is first asked for',
  'chain/activations.ts: activating': 'a constant for each network',
  'chain/bloom.ts: knownBits': 'bits by the hash of an item, cleared when a fixed number is reached',
  'chain/header.ts: hashes': 'goes with its header',
  'chain/log-filter.ts: probesOf': 'goes with its filter',
  'chain/merged-mining/fork-detection.ts: checkpointBytes': 'goes with its header',
  'chain/merged-mining/fork-detection.ts: windowUncles': 'goes with its header',
  'chain/merged-mining/sha256-midstate.ts: schedule': '64 words, valid within a call',
  'chain/receipt.ts: encodedOnce': 'goes with its receipts',
  'chain/signature.ts: compact': '64 bytes, valid within a call',
  'cli/anvil/flags.ts: always': 'a function',
  'cli/anvil/flags.ts: never': 'a function',
  'cli/secrets.ts: secretOptions': 'goes with its option',
  'comparison/ethereum-rules.ts: commons':
    'the rules of a fork and chain id, cleared when a fixed number is reached',
  'comparison/library-state.ts: addresses': 'a fixed number of objects that never change',
  'encoding/bytes.ts: shared': '16 KiB, whose parts are given out once',
  'encoding/bytes.ts: taken': 'the bytes given out of it',
  'encoding/bytes.ts: word': '32 bytes, valid within a call',
  'encoding/keccak-module.ts: compiled': 'code',
  'engine/blockchain/chain.ts: built': 'goes with its genesis',
  'ethereumjs/chain-evm.ts: headed': 'goes with its code',
  'evm/code-analysis.ts: analyses': 'goes with its code',
  'evm/precompiles/bridge/bridge.ts: callStates': 'goes with its call',
  'evm/rules.ts: tables': 'a constant for each network',
  'evm/scheduler.ts: isScheduled': 'the scheduler: a process has one event loop',
  'evm/scheduler.ts: preferred': 'the scheduler',
  'evm/scheduler.ts: sliceStart': 'the scheduler',
  'evm/scheduler.ts: waiting': 'the scheduler: what waits for a slice',
  'evm/word.ts: addresses': 'a fixed number of texts of 42 characters',
  'evm/word.ts: words': 'a fixed number of words',
  'node-origin.ts: origins': 'goes with its node',
  'rpc/openrpc.ts: entries': 'goes with its method',
  'rpc/wire/block.ts: described': 'goes with its block',
  'store/hash-table.ts: wanted': '32 bytes, valid within a call',
  'transport/incoming-request.ts: idCount': 'a counter',
  'transport/plain-http.ts: dateSecond': 'a number',
  'transport/plain-http.ts: dateText': 'the text of a second',
}

/** Names of the variables that may come to hold something else than what they began with. */
function changing(text: string): string[] {
  return [...text.matchAll(DECLARATION)].flatMap(([, kind, name = '', rest = '']) => {
    if (kind !== 'const') return [name]
    const isConstant = CONSTANT.test(rest) || /^[A-Z0-9_]+$/.test(name)
    return CONTAINER.test(rest) && !isConstant ? [name] : []
  })
}

/** All of them, by file. The explorer runs in a browser, and compiled code has its own table of what it keeps. */
function found(): string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/^(ui|evm\/compiled)\//.test(file))
    .flatMap((file) => changing(readFileSync(`${SOURCE}/${file}`, 'utf8')).map((name) => `${file}: ${name}`))
    .sort()
}

it('modules keep for the whole process what is listed, and nothing else', () => {
  expect(found()).toEqual(Object.keys(KEPT).sort())
})

it.each([
  ['let last: Uint8Array | undefined', ['last']],
  ['export const seen = new Map<string, Uint8Array>()', ['seen']],
  ['const scratch = new Uint8Array(64)', ['scratch']],
  ['const queue: string[] = []', ['queue']],
  ['const names: ReadonlyMap<string, number> = new Map()', []],
  ['const ONE = new Uint8Array(1)', []],
  ["const kinds = new Set(['a', 'b'])", []],
  ['function f() {\n  let inner = 0\n}', []],
])('finds what changes in %s', (text, names) => {
  expect(changing(text)).toEqual(names)
})
