/**
 * Compares the executed lines of `node.coverage()` with those of solidity-coverage on suites from npm: the same calls on the
 * sources as they are, and instrumented. Differences have to be those of `expected.json`, which gives the reason of each.
 *
 *   npm ci --ignore-scripts && node main.mjs [part of a suite's name] [--write | --record]
 *
 * `--write` writes the differences that are not expected yet, to be explained there; `--record` writes a shorter run of a suite
 * to `fixtures/coverage`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { AbiCoder, Interface } from 'ethers'
import { createNode } from '../../../dist/index.js'
import { instrument, singles } from './oracle.mjs'
import { SUITES } from './suites.mjs'

const EXPECTED = new URL('expected.json', import.meta.url)
const OPTIONS = { preset: 'hardhat', now: () => 1_700_000_000, blockGasLimit: 100_000_000 }
const GAS = '0x1c9c380'

function compile({ solc, evmVersion }, sources) {
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      evmVersion,
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode', 'evm.methodIdentifiers'], '': ['ast'] },
      },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return { solcVersion: solc.version(), input, output }
}

/** Numbers from 0 to below 1, the same in every run: the minimal standard generator of Park and Miller. */
function sequence(seed) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A value of a type: mostly small numbers and known addresses, so that calls get far. */
function drawn({ type, components }, next, addresses) {
  const pick = (list) => list[Math.floor(next() * list.length)]
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    const length = list[2] === '' ? Math.floor(next() * 3) : Number(list[2])
    return Array.from({ length }, () => drawn({ type: list[1], components }, next, addresses))
  }
  if (type === 'tuple') return components.map((one) => drawn(one, next, addresses))
  if (type === 'address') return pick(addresses)
  if (type === 'bool') return next() < 0.5
  if (type === 'string')
    return pick(['', 'text', '12', 'a longer text that does not fit in one word of memory'])
  if (type === 'bytes') return pick(['0x', '0x1234', `0x${'ab'.repeat(65)}`])
  const bytes = /^bytes(\d+)$/.exec(type)
  if (bytes !== null) return `0x${pick(['00', '01', 'ff']).repeat(Number(bytes[1]))}`
  const bits = Number(/\d+$/.exec(type)?.[0] ?? 256)
  const most = 2n ** BigInt(type.startsWith('int') ? bits - 1 : bits) - 1n
  const number = pick([0n, 1n, 2n, 3n, 10n, 100n, 1000n, 2n ** 64n, most])
  return number > most ? most : number
}

const linked = ({ evm: { bytecode } }) => `0x${bytecode.object}`

/** A node on which a suite runs; `onBlock` sees each block with its only transaction. */
async function createRun({ output }, onBlock, sent = []) {
  const node = await createNode(OPTIONS)
  const accounts = node.engine.accounts.list()
  async function send(transaction) {
    const before = node.engine.queries.head().hash
    sent.push({ from: accounts[0], gas: GAS, ...transaction })
    await node
      .request({ method: 'eth_sendTransaction', params: [{ from: accounts[0], gas: GAS, ...transaction }] })
      .catch(() => {})
    const head = node.engine.queries.head()
    if (head.hash === before) return undefined
    await onBlock?.(node, head)
    const [hash] = head.block.transactions
    return node.request({ method: 'eth_getTransactionReceipt', params: [hash.hash] })
  }
  async function deploy(file, name, values) {
    const contract = output.contracts[file][name]
    const inputs = contract.abi.find(({ type }) => type === 'constructor')?.inputs ?? []
    const args = AbiCoder.defaultAbiCoder().encode(inputs, values)
    const receipt = await send({ data: linked(contract) + args.slice(2) })
    return receipt?.status === '0x1' ? receipt.contractAddress : undefined
  }
  const read = (to, data) => node.request({ method: 'eth_call', params: [{ to, data }] })
  return { node, accounts, send, deploy, read }
}

/** Calls all functions of contracts with values drawn by a fixed sequence. */
async function callAll({ output }, { contracts, rounds, prepare }, { accounts, send, deploy, read }) {
  const next = sequence(7)
  const deployed = []
  const named = new Map()
  for (const [file, name, values, as = name] of contracts) {
    const given = values.map((value) => named.get(value) ?? value)
    const address = await deploy(file, name, given)
    if (address === undefined) throw new Error(`${name} cannot be deployed`)
    named.set(as, address)
    deployed.push({ address, abi: new Interface(output.contracts[file][name].abi) })
  }
  const faceOf = (file, name) => new Interface(output.contracts[file][name].abi)
  await prepare?.(deployed, { accounts, send, read, faceOf })
  const addresses = [...accounts.slice(0, 3), ...deployed.map(({ address }) => address)]
  for (let round = 0; round < rounds; round++) {
    for (const { address, abi } of deployed) {
      for (const fragment of abi.fragments.filter(({ type }) => type === 'function')) {
        const values = fragment.inputs.map((input) => drawn(input, next, addresses))
        const data = abi.encodeFunctionData(fragment, values)
        const value = fragment.payable && next() < 0.7 ? '0x5' : '0x0'
        await send({ from: accounts[Math.floor(next() * 3)], to: address, data, value })
      }
    }
  }
}

/** Runs the `test…` functions of all test contracts behind their `setUp`. */
async function runTests({ output }, { rounds }, { accounts, send, deploy }, skipped) {
  const next = sequence(11)
  for (const [file, contracts] of Object.entries(output.contracts)) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      if (
        !abi.some((one) => one.type === 'function' && /^test/.test(one.name)) ||
        evm.bytecode.object === '' ||
        skipped.has(name)
      )
        continue
      const address = await deploy(file, name, [])
      if (address === undefined) {
        skipped.add(name)
        continue
      }
      const face = new Interface(abi)
      if (face.hasFunction('setUp')) await send({ to: address, data: face.encodeFunctionData('setUp') })
      for (const fragment of face.fragments.filter(
        (one) => one.type === 'function' && /^test/.test(one.name),
      )) {
        for (let round = 0; round < (fragment.inputs.length > 0 ? rounds : 1); round++) {
          const values = fragment.inputs.map((input) =>
            drawn(input, next, [...accounts.slice(0, 3), address]),
          )
          await send({ to: address, data: face.encodeFunctionData(fragment, values) })
        }
      }
    }
  }
}

const run = (compiled, suite, place, skipped) =>
  suite.isTest ? runTests(compiled, suite, place, skipped) : callAll(compiled, suite, place)

async function hitsOfOracle(suite, sources, skipped) {
  const oracle = instrument(sources, suite.isCovered)
  const compiled = compile(suite, oracle.sources)
  const place = await createRun(compiled, (node, head) =>
    node.engine.queries.replay(head, (_, index) => (index === 0 ? oracle.tracer : undefined), {
      lastIndex: 0,
    }),
  )
  await run(compiled, suite, place, skipped)
  await place.node.close()
  return oracle.hits()
}

async function linesOfNode(suite, sources, skipped) {
  const compiled = compile(suite, sources)
  const sent = []
  const place = await createRun(compiled, undefined, sent)
  await place.node.addSources(compiled)
  await place.node.request({ method: 'evm_startCoverage', params: [['transactions']] })
  await run(compiled, suite, place, skipped)
  const { files, notes } = await place.node.coverage()
  await place.node.close()
  return { files, notes, compiled, sent }
}

function ownLines({ statementMap, s }) {
  const lines = {}
  for (const [key, { start }] of Object.entries(statementMap)) {
    lines[start.line] = Math.max(lines[start.line] ?? 0, s[key])
  }
  return lines
}

/** The ways of `if`, `require` and `assert` by line, where a line has a single one. */
function ownBranches(coverage) {
  if (coverage === undefined) return {}
  const { branchMap, b } = coverage
  return singles(Object.entries(branchMap).map(([id, { line }]) => [line, b[id]]))
}

/** What differs in the sets of executed lines, by path and line: the text of the line, and who saw it. */
function differences({ lines, branches }, { files }, sources) {
  const found = {}
  let [equal, equalBranches] = [0, 0]
  for (const [path, hits] of Object.entries(lines)) {
    const own = files[path] === undefined ? {} : ownLines(files[path])
    const text = sources[path].content.split('\n')
    for (const line of new Set([...Object.keys(hits), ...Object.keys(own)])) {
      const [a, b] = [hits[line] > 0, own[line] > 0]
      if (a && b) equal++
      if (a === b) continue
      found[path] ??= {}
      const tracked =
        hits[line] === undefined || own[line] === undefined ? ', which the other does not count' : ''
      found[path][line] = `${a ? 'solidity-coverage' : 'tandem'} only${tracked}: ${text[line - 1].trim()}`
    }
    const ways = ownBranches(files[path])
    for (const [line, [first, second] = []] of Object.entries(branches[path]).map(([at, b]) => [
      at,
      b ?? [],
    ])) {
      const own = ways[line]
      if (own == null || first === undefined) continue
      const shown = [first > 0, second > 0, own[0] > 0, own[1] > 0]
      if (shown[0] === shown[2] && shown[1] === shown[3]) {
        equalBranches++
        continue
      }
      found[path] ??= {}
      found[path][`branch ${line}`] =
        `solidity-coverage ${shown.slice(0, 2)}, tandem ${shown.slice(2)}: ${text[line - 1].trim()}`
    }
  }
  return { found, equal, equalBranches }
}

/** A build-info with the members that a node reads. */
function compact({ solcVersion, input, output }) {
  const LEFT_OUT = new Set([
    'typeDescriptions',
    'typeName',
    'documentation',
    'argumentTypes',
    'exportedSymbols',
  ])
  const trees = (key, value) => (LEFT_OUT.has(key) ? undefined : value)
  const codeOf = ({ object, linkReferences, immutableReferences, sourceMap }) => ({
    object,
    linkReferences,
    immutableReferences,
    sourceMap,
  })
  const contracts = Object.entries(output.contracts).map(([file, named]) => [
    file,
    Object.fromEntries(
      Object.entries(named).map(([name, { abi, evm }]) => [
        name,
        { abi, evm: { bytecode: codeOf(evm.bytecode), deployedBytecode: codeOf(evm.deployedBytecode) } },
      ]),
    ),
  ])
  return {
    solcVersion,
    input,
    output: {
      contracts: Object.fromEntries(contracts),
      sources: JSON.parse(JSON.stringify(output.sources, trees)),
    },
  }
}

/** Writes a run of a suite, with the lines that solidity-coverage has seen, for the tests of the package. */
async function record(suite) {
  const shorter = { ...suite, rounds: 2 }
  const sources = suite.sources()
  const skipped = new Set()
  const theirs = await hitsOfOracle(shorter, sources, skipped)
  const own = await linesOfNode(shorter, sources, skipped)
  const { found } = differences(theirs, own, sources)
  const text = JSON.stringify({
    suite: suite.name,
    buildInfo: compact(own.compiled),
    transactions: own.sent,
    ...theirs,
    differences: found,
  })
  writeFileSync(
    new URL(`../../../fixtures/coverage/${suite.fixture}.json.br`, import.meta.url),
    brotliCompressSync(text),
  )
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const expected = JSON.parse(readFileSync(EXPECTED, 'utf8'))
let failed = false
for (const suite of SUITES) {
  if (!asked.every((part) => suite.name.toLowerCase().includes(part.toLowerCase()))) continue
  if (process.argv.includes('--record')) {
    if (suite.fixture !== undefined) await record(suite)
    continue
  }
  const began = performance.now()
  const sources = suite.sources()
  const skipped = new Set()
  const theirs = await hitsOfOracle(suite, sources, skipped)
  const own = await linesOfNode(suite, sources, skipped)
  const { found, equal, equalBranches } = differences(theirs, own, sources)
  const listed = Object.fromEntries(
    Object.entries(expected[suite.name] ?? {}).map(([path, lines]) => [
      path,
      Object.fromEntries(Object.entries(lines).map(([line, { difference }]) => [line, difference])),
    ]),
  )
  const count = Object.values(found).reduce((sum, lines) => sum + Object.keys(lines).length, 0)
  const isSame = JSON.stringify(found) === JSON.stringify(listed)
  console.log(
    `${suite.name}: ${equal} executed lines and ${equalBranches} branches are the same, ${count} differ${isSame ? ' as expected' : ''} (${((performance.now() - began) / 1000).toFixed(0)} s)`,
  )
  if (skipped.size > 0) console.log(`  too large when instrumented: ${[...skipped].join(', ')}`)
  for (const note of own.notes) console.log(`  ${note}`)
  if (isSame) continue
  failed = true
  if (process.argv.includes('--write')) {
    expected[suite.name] = Object.fromEntries(
      Object.entries(found).map(([path, lines]) => [
        path,
        Object.fromEntries(
          Object.entries(lines).map(([line, difference]) => {
            const known = expected[suite.name]?.[path]?.[line]
            const reason = known?.difference === difference ? known.reason : 'to be explained'
            return [line, { difference, reason }]
          }),
        ),
      ]),
    )
    writeFileSync(EXPECTED, `${JSON.stringify(expected, null, 2)}\n`)
  } else console.log(JSON.stringify(found, null, 2))
}
process.exitCode = failed ? 1 : 0
