/** `tandem replay` on recordings of real processes: against other nodes, versions, rules and code, to a line, and of a node that was killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { COW, COW_KEY, noteData } from '../support/noting-chain.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tandem-'))
const file = join(folder, 'session.jsonl')
const { bytecode } = artifact('Probe')
/** Code that returns 1 or 2, and what deploys it. */
const returning = (number: number) => `0x600${number}60005260206000f3`
const ONE = `0x69${returning(1).slice(2)}600052600a6016f3`
/** Flags of all nodes: the same keys and addresses. */
const FLAGS = ['--memory', '--seed', 'replayed']

const running = new Set<RunningCommand>()
async function start(...flags: string[]): Promise<RunningCommand> {
  const node = await startCommand([...FLAGS, ...flags])
  running.add(node)
  return node
}

afterAll(async () => {
  for (const node of running) await node.end('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
async function rpc(url: string, method: string, ...params: unknown[]): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result } = (await response.json()) as { result: unknown }
  return result
}

const replay = (...args: string[]) => runCommand(['replay', ...args])

/** Numbers of the lines whose text matches. */
function linesWith(pattern: RegExp): number[] {
  const texts = readFileSync(file, 'utf8').split('\n')
  return texts.flatMap((text, i) => (pattern.test(text) ? [i + 1] : []))
}

let one: string

/** A session over HTTP, and of a subscriber. */
beforeAll(async () => {
  const node = await start('--record', file)
  const socket = new WebSocket(node.wsUrl)
  await once(socket, 'open')
  const heads: unknown[] = []
  const reached = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      if (heads.push(JSON.parse(String(data))) === 6) resolve()
    })
  })
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  await once(socket, 'message')
  const send = async (transaction: object) => {
    const hash = await rpc(node.url, 'eth_sendTransaction', { from: COW, gas: '0x100000', ...transaction })
    return rpc(node.url, 'eth_getTransactionReceipt', hash)
  }
  const { contractAddress: probe } = await send({ data: bytecode })
  one = (await send({ data: ONE })).contractAddress
  await rpc(node.url, 'eth_call', { to: one }, 'latest')
  for (const number of [1, 2, 3]) await send({ to: probe, data: noteData(number) })
  await rpc(node.url, 'eth_getLogs', { fromBlock: '0x0' })
  const typed = { type: 2, chainId: 33, nonce: 5, to: COW, gasLimit: 21_000 }
  const fees = { maxFeePerGas: 1, maxPriorityFeePerGas: 0 }
  await rpc(
    node.url,
    'eth_sendRawTransaction',
    await new Wallet(COW_KEY).signTransaction({ ...typed, ...fees }),
  )
  await rpc(node.url, 'eth_noSuchMethod')
  await rpc(node.url, 'personal_newAccount', 'secret words')
  await reached
  const closed = once(socket, 'close')
  socket.close()
  await closed
  expect(await node.end('SIGTERM')).toBe(0)
})

describe('a session of a process', () => {
  it('is equal on a new node, and on one that runs, whose clock and hashes are its own', async () => {
    expect(await replay(file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d\d replies and 5 events compared, all equal\n$/),
    })
    const node = await start()
    const first = await replay(file, '--against', node.url)
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('all equal') })
    // Its chain has the session now: the nonces are used.
    const second = await replay(file, '--against', node.url)
    expect(second.code).toBe(1)
    expect(second.stdout).toMatch(/^line \d+: \w+ \S+: recorded /)
    await node.end('SIGTERM')
    const gone = await replay(file, '--against', node.url)
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('No node answers at') })
  })

  it('differs under other rules at the transaction that they take', async () => {
    const [line] = linesWith(/"method":"eth_sendRawTransaction"/)
    const { code, stdout } = await replay(file, '--rules', 'next')
    expect(code).toBe(1)
    expect(stdout).toContain(`line ${line}: eth_sendRawTransaction error: recorded {`)
  })

  it('differs with other code at an address, of hex or of an artifact', async () => {
    const [line] = linesWith(/"method":"eth_call"/)
    const hex = join(folder, 'two.hex')
    writeFileSync(hex, `${returning(2)}\n`)
    const json = join(folder, 'Two.json')
    writeFileSync(json, JSON.stringify({ abi: [], deployedBytecode: { object: returning(2) } }))
    const wrong = join(folder, 'Wrong.json')
    writeFileSync(wrong, '{"abi":[]}')
    for (const path of [hex, json]) {
      const { code, stdout } = await replay(file, '--code', `${one}=${path}`)
      expect(code).toBe(1)
      expect(stdout).toMatch(
        new RegExp(`^line ${line}: eth_call result: recorded "0x0*1", replayed "0x0*2"\n`),
      )
    }
    const same = join(folder, 'one.hex')
    writeFileSync(same, returning(1))
    expect((await replay(file, '--code', `${one}=${same}`)).stdout).toContain('all equal')
    const refused = await replay(file, '--code', `${one}=${wrong}`)
    expect(refused.stderr).toContain('neither hex nor the deployedBytecode')
  })

  it('differs on another version, by its folder and by its number', async () => {
    const [line] = linesWith(/"eth_noSuchMethod"/)
    const project = join(folder, 'project')
    const other = join(project, 'node_modules/older')
    mkdirSync(join(other, 'dist'), { recursive: true })
    cpSync(join(ROOT, 'dist/index.js'), join(other, 'dist/index.js'))
    cpSync(join(ROOT, 'dist/chunks'), join(other, 'dist/chunks'), { recursive: true })
    for (const name of ['node_modules', 'genesis']) symlinkSync(join(ROOT, name), join(other, name))
    writeFileSync(join(other, 'package.json'), '{"name":"tandem","version":"0.0.7","type":"module"}')
    for (const name of readdirSync(join(other, 'dist/chunks'))) {
      const path = join(other, 'dist/chunks', name)
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('method not found', 'no method'))
    }
    for (const place of [other, '0.0.7']) {
      const { code, stdout, stderr } = await runCommand(['replay', file, '--against', place], {}, project)
      expect(stderr).toBe('')
      expect(code).toBe(1)
      expect(stdout).toContain(
        `line ${line}: eth_noSuchMethod error.message: recorded "method not found", replayed "no method"`,
      )
    }
    const missing = await runCommand(['replay', file, '--against', '9.9.9'], {}, project)
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Version 9.9.9 is not installed'),
    })
    const none = await replay(file, '--against', folder)
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('has no version of the node') })
  })

  it('stands at a line', async () => {
    const [, line] = linesWith(/"method":"eth_sendTransaction"/)
    const child = spawn(process.execPath, [
      join(ROOT, 'dist/cli/main.js'),
      ...['replay', file, '--to', String(line), '--serve', '--port', '0'],
    ])
    let printed = ''
    const url = await new Promise<string>((resolve) => {
      child.stdout.on('data', (chunk) => {
        printed += chunk
        const [, found] = /^ready (\S+)/m.exec(printed) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    expect(await rpc(url, 'eth_blockNumber')).toBe('0x2')
    expect(await rpc(url, 'eth_getCode', one, 'latest')).toBe(returning(1))
    // It is a node like any other from then on.
    await rpc(url, 'evm_mine')
    expect(await rpc(url, 'eth_blockNumber')).toBe('0x3')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('a recording that was cut off', () => {
  it('by kill -9 is repeated up to its last whole line', async () => {
    const path = join(folder, 'killed.jsonl')
    const node = await start('--record', path)
    for (let i = 0; i < 5; i++) await rpc(node.url, 'evm_mine')
    await expect.poll(() => readFileSync(path, 'utf8').split('\n').length, { timeout: 20_000 }).toBe(7)
    expect(await node.end('SIGKILL')).toBe('SIGKILL')
    expect(await replay(path)).toMatchObject({
      code: 0,
      stdout: '5 replies and 0 events compared, all equal\n',
    })
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, readFileSync(path, 'utf8').slice(0, -9))
    expect(await replay(cut)).toEqual({
      code: 0,
      stdout: '4 replies and 0 events compared, all equal\n',
      stderr: 'tandem: the recording was cut off: line 6 is incomplete, and was left out\n',
    })
    writeFileSync(cut, `${readFileSync(path, 'utf8').slice(0, -9)}\n`)
    expect(await replay(cut)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('line 6: it is not JSON'),
    })
  })
})

describe('a recording of a fork', () => {
  it('continues from the recorded block, with the URLs given again', async () => {
    const upstream = await start()
    await rpc(upstream.url, 'evm_mine', { blocks: 3 })
    const path = join(folder, 'fork.jsonl')
    const node = await start('--fork', upstream.url, '--record', path)
    await rpc(upstream.url, 'evm_mine', { blocks: 5 })
    await rpc(node.url, 'eth_sendTransaction', { from: COW, to: COW })
    await rpc(node.url, 'eth_getBlockByNumber', 'latest', true)
    await rpc(node.url, 'hardhat_reset', { forking: { jsonRpcUrl: upstream.url, blockNumber: 2 } })
    await rpc(node.url, 'eth_blockNumber')
    expect(await node.end('SIGTERM')).toBe(0)
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(`"jsonRpcUrl":"${upstream.url}`)
    expect(JSON.parse(text.split('\n')[0] as string)).toMatchObject({
      masked: ['fork'],
      options: { forkBlock: 3 },
    })

    await rpc(upstream.url, 'evm_mine')
    const flags = ['--fork', upstream.url, '--secret', `1=${upstream.url}`]
    expect(await replay(path, ...flags)).toMatchObject({
      code: 0,
      stdout: '4 replies and 0 events compared, all equal\n',
    })
    expect((await replay(path)).stderr).toContain('the secret option "fork": give it again (--fork)')
    expect((await replay(path, '--fork', upstream.url)).stderr).toContain('--secret 1=<url>')
  })
})
