/**
 * `tandem anvil` as launchers use it. The parser follows the rules of alloy's node bindings
 * (alloy-rs/alloy, crates/node-bindings/src/nodes/anvil.rs); prool itself runs in `npm run test:tools`.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { AnvilSettings } from '../../src/cli/anvil/flag-values.ts'
import { ANVIL_FLAGS } from '../../src/cli/anvil/flags.ts'
import type { NodeOptions } from '../../src/options/options.ts'
import { runCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/anvil.js', import.meta.url))
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const STRANGER = '0x00000000000000000000000000000000000000aa'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function launch(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } })
  children.push(child)
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  return { child, errors: () => errors }
}

/** Reads lines up to the address as alloy does. */
async function parseLikeAlloy(child: ChildProcess) {
  let keysFollow = false
  let chainId = 31_337
  const keys: string[] = []
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    lines.push(line)
    if (line.startsWith('Listening on')) {
      const port = Number(line.trim().split(':').at(-1))
      return { port, keys, chainId, lines }
    }
    if (line.startsWith('Private Keys')) keysFollow = true
    if (keysFollow && line.startsWith('(')) keys.push(line.trim().split(' ').at(-1) as string)
    const id = line.split('Chain ID:').at(1)
    if (id !== undefined) chainId = Number(id.trim())
  }
  throw new Error('standard output ended')
}

async function ended(args: readonly string[]) {
  const { child, errors } = launch(args)
  const [code] = await once(child, 'close')
  return { code, stderr: errors() }
}

describe('a launcher', () => {
  it('finds port, keys and chain id, and the node keeps running after standard output is closed', async () => {
    const { child, errors } = launch(['-p', '0', '-a', '3'])
    const { port, keys, chainId } = await parseLikeAlloy(child)
    expect(keys).toHaveLength(3)
    expect(keys[0]).toBe(FIRST_KEY)
    expect(chainId).toBe(33)
    child.stdout?.destroy()
    const url = `http://127.0.0.1:${port}`
    for (let i = 0; i < 20; i++) await rpc(url, 'evm_mine')
    expect(await rpc(url, 'eth_blockNumber')).toBe('0x14')
    expect(await rpc(url, 'web3_clientVersion')).toMatch(/^anvil\//)
    expect(errors()).toBe('')
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  })

  it('finds the state of the last run again', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tandem-anvil-'))
    try {
      const runs: string[] = []
      for (const flags of [
        ['--dump-state', dir],
        ['--state', join(dir, 'state.json')],
      ]) {
        const { child } = launch(['-p', '0', ...flags, '-s', '1'])
        const { port } = await parseLikeAlloy(child)
        const url = `http://127.0.0.1:${port}`
        await rpc(url, 'evm_mine')
        await rpc(url, 'anvil_setBalance', [STRANGER, '0x7'])
        runs.push(await rpc(url, 'eth_blockNumber'))
        child.kill('SIGTERM')
        expect((await once(child, 'close'))[0]).toBe(0)
      }
      expect(runs).toEqual(['0x1', '0x2'])
      const { child } = launch(['-p', '0', '--load-state', dir])
      const { port } = await parseLikeAlloy(child)
      expect(await rpc(`http://127.0.0.1:${port}`, 'eth_getBalance', [STRANGER, 'latest'])).toBe('0x7')
      expect(await ended(['--state', dir, '--load-state', dir])).toEqual({
        code: 2,
        stderr: 'tandem: --state and --load-state contradict each other: give one of them.\n',
      })
      expect(await ended(['--load-state', join(dir, 'missing.json')])).toEqual({
        code: 2,
        stderr: `tandem: The file ${join(dir, 'missing.json')} cannot be read: there is no such file.\n`,
      })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it('gets a socket, both mining modes, and transactions in order of arrival', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tandem-anvil-'))
    try {
      const ipc = join(dir, 'node.ipc')
      const args = ['-p', '0', '-b', '3600', '--mixed-mining', '--order', 'fifo', '--ipc', ipc]
      const { child } = launch(args)
      const { port, lines } = await parseLikeAlloy(child)
      expect(lines).toContain(`IPC path: ${ipc}`)
      const url = `http://127.0.0.1:${port}`
      const [from, to] = [...(await rpc(url, 'eth_accounts'))]
      await rpc(url, 'eth_sendTransaction', [{ from, to, value: '0x1' }])
      expect(await rpc(url, 'anvil_getIntervalMining')).toBe(3600)
      expect(await rpc(url, 'anvil_nodeInfo')).toMatchObject({ transactionOrder: 'fifo' })
      const socket = connect(ipc)
      socket.write('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}')
      const [answer] = await once(socket, 'data')
      expect(JSON.parse(String(answer))).toEqual({ jsonrpc: '2.0', id: 1, result: '0x1' })
      socket.destroy()
      child.kill('SIGTERM')
      await once(child, 'close')
      expect(existsSync(ipc)).toBe(false)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it('gets what the flags ask for', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tandem-anvil-'))
    try {
      const file = join(dir, 'config.json')
      const { child } = launch([
        ...['--port', '0', '--chain-id', '31337', '--gas-limit', '12000000', '--gas-price', '7'],
        ...['--balance', '5', '--timestamp', '1700000000', '--fund-accounts', `${STRANGER}:2.5`],
        ...['--config-out', file, '--auto-impersonate', '--no-mining', '--hardfork', 'london'],
      ])
      const { port, chainId, lines } = await parseLikeAlloy(child)
      const url = `http://127.0.0.1:${port}`
      expect(chainId).toBe(31_337)
      expect(lines[0]).toBe(
        'Warning: --hardfork london changes nothing: this chain has one set of rules, with the opcodes of cancun',
      )
      expect(await rpc(url, 'eth_chainId')).toBe('0x7a69')
      expect(await rpc(url, 'eth_gasPrice')).toBe('0x7')
      expect(await rpc(url, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({
        gasLimit: '0xb71b00',
        timestamp: '0x6553f100',
      })
      expect(BigInt(await rpc(url, 'eth_getBalance', [STRANGER, 'latest']))).toBe(25n * 10n ** 17n)
      const { available_accounts, private_keys, gas_limit } = JSON.parse(readFileSync(file, 'utf8'))
      expect(available_accounts).toHaveLength(10)
      expect([private_keys[0], gas_limit]).toEqual([FIRST_KEY, '12000000'])
      const balance = await rpc(url, 'eth_getBalance', [available_accounts[0], 'latest'])
      expect(BigInt(balance)).toBe(5n * 10n ** 18n)
      await rpc(url, 'eth_sendTransaction', [{ from: STRANGER, to: available_accounts[1], value: '0x1' }])
      expect(await rpc(url, 'eth_blockNumber')).toBe('0x0')
      await rpc(url, 'anvil_mine', ['0x1'])
      expect(await rpc(url, 'eth_getTransactionCount', [STRANGER, 'latest'])).toBe('0x1')
      // Foundry's scripts create contracts through this proxy.
      expect(await rpc(url, 'eth_getCode', ['0x4e59b44847b379578588920ca78fbf26c0b4956c', 'latest'])).toMatch(
        /^0x7fff/,
      )
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it('reaches a node that listens beyond loopback, and reads a warning on standard output', async () => {
    const { child, errors } = launch(['-p', '0', '--silent', '--host', '127.0.0.1'], {
      ANVIL_IP_ADDR: '0.0.0.0',
    })
    child.kill('SIGTERM')
    await once(child, 'close')
    expect(errors()).toBe('')
    const open = launch(['-p', '0'], { ANVIL_IP_ADDR: '0.0.0.0' })
    const { lines } = await parseLikeAlloy(open.child)
    expect(lines[0]).toBe(
      'Warning: listening on 0.0.0.0: anyone who reaches the port can use the accounts and move the chain',
    )
    expect(lines.at(-1)).toMatch(/^Listening on 0\.0\.0\.0:\d+$/)
    expect(open.errors()).toBe('')
  })
})

describe('a flag', () => {
  it.each([
    [['--prot', '1'], "tandem: unknown option '--prot' (Did you mean --port?)\n"],
    [['--accounts', 'many'], 'tandem: --accounts expects a whole number from 0 to 10000, not "many".\n'],
    [
      ['--mixed-mining'],
      'tandem: --mixed-mining needs --block-time: the seconds between the other blocks.\n',
    ],
    [['--order', 'lifo'], 'tandem: --order expects fees or fifo, not "lifo".\n'],
    [
      ['--hardfork', 'osaka'],
      'tandem: --hardfork osaka is not supported: this chain has one set of rules, with the opcodes of cancun.\n',
    ],
    [
      ['--mnemonic', 'a', '--mnemonic-random'],
      'tandem: --mnemonic, --mnemonic-random and --mnemonic-seed-unsafe contradict each other: give one of them.\n',
    ],
    [
      ['--gas-limit', '1', '--block-gas-limit', '2'],
      'tandem: --gas-limit and --block-gas-limit are the same flag: give one of them.\n',
    ],
    [
      ['--fork-block-number', '7'],
      'tandem: The fork flags need the URL to fork from: give --fork-url <url>.\n',
    ],
    [
      ['-f', 'nowhere'],
      'tandem: Option "fork" expects URLs such as https://node.example or ws://127.0.0.1:4445@latest, of http, https, ws or wss.\n',
    ],
  ])('%j ends the start with one message and exit code 2', async (args, sentence) => {
    const { code, stderr } = await ended(args)
    expect({ code, stderr }).toEqual({ code: 2, stderr: sentence })
  })

  it('for forks has the same effect as in Anvil', () => {
    const node: NodeOptions = {}
    const values: Readonly<Record<string, string>> = {
      '--fork-url': 'http://a.example@7\nhttp://b.example',
      '--fork-block-number': '-5',
      '--fork-header': 'a: b\nc: d',
      '--compute-units-per-second': '340',
      '--timeout': '1500',
      '--retries': '2',
      '--cache-path': '/tmp/cache',
      '--no-storage-caching': '',
    }
    for (const { flags, apply } of ANVIL_FLAGS) {
      const [name = ''] = /--[\w-]+/.exec(flags) ?? []
      const value = values[name]
      if (value !== undefined) apply(value, { node } as AnvilSettings, name)
    }
    expect(node).toEqual({
      fork: ['http://a.example@7', 'http://b.example'],
      forkBlock: '-5',
      forkHeader: ['a: b', 'c: d'],
      // Anvil counts 17 units a request.
      forkRate: 20,
      forkTimeoutMs: 1500,
      forkRetries: 2,
      forkCacheDir: '/tmp/cache',
      forkCache: false,
    })
  })

  it('of Anvil 1.7 is accepted, for every flag', () => {
    // `anvil --help` of 1.7.1, and the aliases of crates/anvil/src/cmd.rs.
    const ALL = `-p --port -a --accounts -m --mnemonic --mnemonic-random --mnemonic-seed-unsafe --balance
      --derivation-path --timestamp --number --hardfork -b --block-time --no-mining --mixed-mining --order --init
      --state -s --state-interval --dump-state --load-state --preserve-historical-states --fund-accounts --ipc
      --prune-history --max-persisted-states --transaction-block-keeper --max-transactions --config-out --chain-id
      --gas-limit --disable-block-gas-limit --code-size-limit --gas-price --base-fee --steps-tracing
      --disable-console-log --print-traces --auto-impersonate --host --allow-origin --no-cors --silent -f --fork-url
      --fork-block-number --fork-transaction-hash --fork-header --fork-retry-backoff --fork-chain-id
      --compute-units-per-second --no-rate-limit --no-storage-caching --timeout --retries --fork-state-by-number
      --no-fork-node-info -j --threads -q -v --json --color --slots-in-an-epoch --cache-path --memory-limit
      --no-request-size-limit --disable-code-size-limit --disable-min-priority-fee --enable-tx-gas-limit
      --disable-default-create2-deployer --disable-pool-balance-checks --no-mine --blockTime --ipcpath --rpc-url
      --tracing --auto-unlock --block-gas-limit`.split(/\s+/)
    const known = new Set(
      ANVIL_FLAGS.flatMap(({ flags, aliases = [] }) => [...flags.split(/[ ,]+/), ...aliases]),
    )
    expect(ALL.filter((flag) => !known.has(flag))).toEqual([])
  })
})

describe('flags that exclude each other', () => {
  // What anvil 1.x states of them.
  it.each([
    [['--no-mining', '-b', '1'], "the argument '--no-mining' cannot be used with '--block-time <SECONDS>'"],
    [
      ['--block-time', '1', '--no-mine'],
      "the argument '--block-time <SECONDS>' cannot be used with '--no-mining'",
    ],
    [['-b1', '--no-mining'], "the argument '--block-time <SECONDS>' cannot be used with '--no-mining'"],
  ])('%j', async (flags, message) => {
    const { code, stderr } = await runCommand(['anvil', '--port', '0', ...flags])
    expect([code, stderr]).toEqual([2, `tandem: ${message}\n`])
  })
})
