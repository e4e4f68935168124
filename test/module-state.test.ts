/** What the modules of `src` keep for the whole process: only what is listed here, each with the reason and its bound. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))

/** A declaration of a module, which the formatter puts at the beginning of a line. */
const DECLARATION = /^(?:export )?(const|let|var) (\w+)(.*)$/gm
/** What is there to be written to: containers that begin empty, objects of a class, and what a function makes. */
const CONTAINER =
  /= (\[\]|\{\}|\{.*\[\].*\}|new (Map|Set)(<.*>)?\((\)|\w+\))|new (?!(Map|Set)\b)\w+(<.*>)?\(|Buffer\.(alloc|from)|roomFor\(|bitmap\(|withLast\(|[^>(]*\b(create|load|open)[A-Z]\w*\()/
/** Never written to: read-only by its type, or named as a constant. */
const CONSTANT = /^(: (Readonly|readonly )(?!.*\[\] \}$)|$)/

/**
 * What the process keeps, and why it neither grows with what was seen nor carries anything from one node to another: a
 * fixed number of entries of a fixed size, which are the same whoever asks, or what goes with an object of one node.
 */
const KEPT: Readonly<Record<string, string>> = {
  'abi/codec.ts: loading':
    'the library, loaded once; its decoders go with the parameters, which belong to a registry',
  'abi/console.ts: forms': 'a constant, made when it is first asked for',
  'abi/standard-events.ts: known': 'constants of a codec, of which there is one',
  'debugger/chapter.ts: pushed': 'goes with its code',
  'chain/activations.ts: activating': 'a constant for each network',
  'chain/bloom.ts: knownBits':
    'at most 4096 hashed items (addresses and topics, 66 characters) with three numbers each, 1 MB',
  'chain/header.ts: hashes': 'goes with its header',
  'chain/log-filter.ts: probesOf': 'goes with its filter',
  'chain/merged-mining/fork-detection.ts: checkpointBytes': 'goes with its header',
  'chain/merged-mining/fork-detection.ts: windowUncles': 'goes with its header',
  'chain/merged-mining/sha256-midstate.ts: schedule': '64 numbers, valid within a call',
  'chain/receipt.ts: encodedOnce': 'goes with its receipts',
  'chain/signature.ts: compact': '64 bytes, valid within a call',
  'chain/signature.ts: curve': 'code; its four arrays have at most 65 bytes each, valid within a call',
  'chain/signature.ts: words': 'a view of the 64 bytes above',
  'cli/anvil/flags.ts: always': 'a function',
  'cli/anvil/flags.ts: never': 'a function',
  'cli/main.ts: errors': 'the standard error of the command',
  'cli/main.ts: output': 'the standard output of the command',
  'cli/secrets.ts: secretOptions': 'goes with its option',
  'comparison/ethereum-rules.ts: commons':
    'at most 64 rules of a fork and chain id, which are of the same size',
  'comparison/library-state.ts: addresses':
    'at most 4096 addresses, 20 bytes and 42 characters each, that never change: 1 MB',
  'encoding/base58.ts: codec': 'code',
  'encoding/bytes.ts: quarters': 'a view of the 32 bytes of `word`',
  'encoding/bytes.ts: shared': '16 KiB, whose parts are given out once',
  'encoding/bytes.ts: taken': 'a number: the bytes given out of it',
  'encoding/bytes.ts: word': '32 bytes, valid within a call',
  'encoding/hash.ts: keptKeccak':
    'code on 1 MiB of linear memory, which longer input does not use; valid within a call',
  'encoding/hash.ts: sha256Hasher': 'code on linear memory of a fixed size, valid within a call',
  'encoding/hex.ts: text': '130 bytes, valid within a call',
  'wasm/keccak.ts: compiled': 'code',
  'wasm/function-body.ts: floats': '8 bytes, valid within a call',
  'engine/blockchain/chain.ts: built': 'goes with its genesis',
  'engine/index/section.ts: all': '128 bytes, valid within a query of one section, which is synchronous',
  'engine/index/section.ts: any': '128 bytes, as `all`',
  'engine/index/section.ts: found': '128 bytes, as `all`',
  'engine/index/section.ts: one': '128 bytes, as `all`',
  'ethereumjs/chain-evm.ts: headed': 'goes with its code',
  'ethereumjs/chain-evm.ts: opcodeTables': 'goes with the custom opcodes of the rules of a VM',
  'evm/code-analysis.ts: analyses': 'goes with its code',
  'evm/code-analysis.ts: passing': 'goes with its code',
  'evm/precompiles/bridge/bridge.ts: bridge': 'code: a contract has no state',
  'evm/precompiles/bridge/federation/federation.ts: genesis': 'a constant of its network',
  'evm/precompiles/bridge/votes/election.ts: utf8': 'code: an encoder has no state',
  'state/bridge-cells.ts: utf8': 'code: an encoder has no state',
  'evm/rules.ts: tables': 'a constant for each network',
  'evm/scheduler.ts: isScheduled': 'the scheduler: a process has one event loop',
  'evm/scheduler.ts: preferred': 'the scheduler',
  'evm/scheduler.ts: sliceStart': 'the scheduler',
  'evm/scheduler.ts: waiting': 'the scheduler: runs that wait for a slice, each removed when it resumes',
  'mcp/documents.ts: described': 'titles and first sentences of the documents of the package',
  'mcp/method-tool.ts: made': 'goes with its method',
  'node/origin.ts: origins': 'goes with its node',
  'rpc/contract-abis.ts: registries': 'goes with its artifact',
  'rpc/openrpc.ts: entries': 'goes with its method',
  'rpc/wire/block.ts: described': 'goes with its block',
  'rpc/wire/trace/registry.ts: mux': 'code',
  'runners/node-test.ts: test': 'code: the test function of a runner',
  'runners/vitest.ts: test': 'code: the test function of a runner',
  'upstream/forbidden-address.ts: isForbidden': 'code: a fixed list of networks',
  'store/hash-table.ts: wanted': '32 bytes, valid within a call',
  'transport/incoming-request.ts: idCount': 'a counter',
  'transport/fast-connection.ts: dateSecond': 'a number',
  'transport/fast-connection.ts: dateText': 'the text of a second, 29 characters',
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

it('modules keep only the listed state for the whole process', () => {
  expect(found()).toEqual(Object.keys(KEPT).sort())
})

it.each([
  ['let last: Uint8Array | undefined', ['last']],
  ['export const seen = new Map<string, Uint8Array>()', ['seen']],
  ['const scratch = new Uint8Array(64)', ['scratch']],
  ['const queue: string[] = []', ['queue']],
  ['const kept = new LogTexts(write, 16 << 20)', ['kept']],
  ['const keys = createStateKeys(1)', ['keys']],
  ['const hash = isFast ? createHash(64) : slow', ['hash']],
  ['const names: ReadonlyMap<string, number> = new Map()', []],
  ['const ONE = new Uint8Array(1)', []],
  ["const kinds = new Set(['a', 'b'])", []],
  ['function f() {\n  let inner = 0\n}', []],
])('finds what changes in %s', (text, names) => {
  expect(changing(text)).toEqual(names)
})
