/** Texts to copy: they run in the tools that they are for, and do what the page does. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { simulationText, stepText, type Tool } from '../../../src/ui/simulation/copies.ts'
import type { Scenario, ScenarioStep } from '../../../src/ui/simulation/scenario.ts'
import { artifact } from '../../support/contracts.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { CAST, CURL, describeWith, type Program } from '../../support/tools.ts'

const run = promisify(execFile)
const PACKAGES = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const token = artifact('Token')
const coder = new Interface(token.abi)
const COIN = 10n ** 18n
const OTHER = `0x${'11'.repeat(20)}` as const
const word = (value: number | bigint): `0x${string}` => `0x${value.toString(16).padStart(64, '0')}`

let served: ServedNode
let folder: string
let steps: Record<'call' | 'send' | 'create' | 'set' | 'warp', ScenarioStep>
let from: `0x${string}`
let to: `0x${string}`
beforeAll(async () => {
  served = await servedNode()
  folder = mkdtempSync(join(tmpdir(), 'copies-'))
  symlinkSync(PACKAGES, join(folder, 'node_modules'))
  from = (await served.call('eth_accounts'))[0]
  const data = (token.bytecode + coder.encodeDeploy([1000]).slice(2)) as `0x${string}`
  const hash = await served.call('eth_sendTransaction', { from, data, gas: '0x4c4b40' })
  to = (await served.call('eth_getTransactionReceipt', hash)).contractAddress
  const encoded = (name: string, ...values: unknown[]) =>
    coder.encodeFunctionData(name, values) as `0x${string}`
  steps = {
    call: { call: { from, to, data: encoded('balanceOf', from), gas: '0x30d40' } },
    send: {
      send: {
        from,
        to,
        data: encoded('transfer', OTHER, 1),
        gas: '0x30d40',
        gasPrice: '0x3938700',
      },
    },
    create: { send: { from, data, gas: '0x4c4b40' } },
    set: { set: { [to]: { balance: '0x7', nonce: '0x9', stateDiff: { [word(77)]: word(5) } } } },
    warp: { warp: { seconds: 60, blocks: 2 } },
  }
})
afterAll(async () => {
  await served.close()
  rmSync(folder, { recursive: true })
})

const here = (): Scenario => ({ block: 'latest', steps: Object.values(steps) })

let count = 0
/** Runs modules one after another in one process, and returns what each printed. */
async function runModules(...texts: readonly string[]): Promise<string[]> {
  const files = texts.map((text) => {
    const file = join(folder, `${++count}.mjs`)
    writeFileSync(file, text)
    return file
  })
  const main = `for (const file of ${JSON.stringify(files)}) { await import(file); console.log('--') } process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', main], { cwd: folder })
  return stdout
    .split('--\n')
    .slice(0, -1)
    .map((text) => text.trim())
}

/** Runs commands in a shell, and returns what they printed. */
async function runShell(text: string, program: Program): Promise<string> {
  const path = `${dirname(program.path)}:${process.env.PATH}`
  const { stdout } = await run('bash', ['-e', '-c', text], {
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
  })
  return stdout.trim()
}

const balance = async (who: string) =>
  BigInt(await served.call('eth_call', { to, data: coder.encodeFunctionData('balanceOf', [who]) }, 'latest'))
const height = async () => Number(await served.call('eth_blockNumber'))

describe.each<Tool>(['viem', 'ethers'])('texts for %s', (tool) => {
  const text = (step: ScenarioStep, scenario = here()) => stepText(tool, `${served.url}/`, scenario, step)

  it('read, send, create, change and simulate', async () => {
    const before = await balance(OTHER)
    const [read, overridden, , , , simulated = ''] = await runModules(
      text(steps.call),
      text(steps.call, { ...here(), stateOverrides: { [to]: { code: '0x600760005260206000f3' } } }),
      text(steps.send),
      text(steps.create),
      [text(steps.set), text(steps.warp).replace(/^.*import.*$|^const .*$/gm, '')].join('\n'),
      simulationText(tool, `${served.url}/`, {
        ...here(),
        steps: [steps.call, { ...steps.send, off: true }],
      }),
    )
    expect(read).toBe(word(1000n - before))
    expect(overridden).toBe(word(7))
    expect(await balance(OTHER)).toBe(before + 1n)
    expect(await served.call('eth_getBalance', to, 'latest')).toBe('0x7')
    expect(await served.call('eth_getStorageAt', to, word(77), 'latest')).toBe(word(5))
    expect(simulated).toContain(`returnData: '${word(999n - before)}'`)
  })
})

/** Steps by command, and what the chain is afterwards. */
async function checkCommands(
  tool: Tool,
  program: Program,
  outputs: (read: string, simulated: string) => void,
) {
  const text = (step: ScenarioStep) => stepText(tool, `${served.url}/`, here(), step)
  const before = await balance(OTHER)
  const read = await runShell(text(steps.call), program)
  const simulated = await runShell(
    simulationText(tool, `${served.url}/`, {
      ...here(),
      steps: [{ set: { [to]: { code: '0x' } } }, steps.call, steps.warp],
    }),
    program,
  )
  outputs(read, simulated)
  await runShell([text(steps.send), text(steps.create)].join('\n'), program)
  expect(await balance(OTHER)).toBe(before + 1n)
  const blocks = await height()
  await served.call('hardhat_setBalance', to, '0x0')
  await runShell([text(steps.set), text(steps.warp)].join('\n'), program)
  expect(await served.call('eth_getBalance', to, 'latest')).toBe('0x7')
  expect(await height()).toBe(blocks + 2)
}

describeWith(CURL, 'texts for curl', () => {
  it('read, send, create, change and simulate', async () => {
    await checkCommands('curl', CURL, (read, simulated) => {
      expect(JSON.parse(read).result).toMatch(/^0x[0-9a-f]{64}$/)
      expect(JSON.parse(simulated).result).toMatchObject([
        { kind: 'set' },
        { kind: 'call', status: '0x1', returnData: '0x' },
        { kind: 'warp' },
      ])
    })
  })

  it('keep quotes and other signs of a shell', async () => {
    const name = `it's $(touch "${folder}/pwned") \`id\` \\ "x"`
    const scenario = { ...here(), steps: [{ set: { [to]: { variables: { [name]: name } } } }] }
    const { error } = JSON.parse(await runShell(simulationText('curl', `${served.url}/`, scenario), CURL))
    expect(error.message).toContain(to)
    const set = { set: { [to]: { variables: { [name]: name } } } }
    const sent = JSON.parse(await runShell(stepText('curl', `${served.url}/`, here(), set), CURL))
    expect(sent.error.message).toContain('variables')
    expect(await runShell(`ls ${folder}`, CURL)).not.toContain('pwned')
  })
})

describeWith(CAST, 'texts for cast', () => {
  it('read, send, create, change and simulate', async () => {
    await checkCommands('cast', CAST, (read, simulated) => {
      expect(read).toMatch(/^0x[0-9a-f]{64}$/)
      expect(JSON.parse(simulated)).toHaveLength(3)
    })
  })
})

describeWith(CAST, 'texts for cast on a chain with typed transactions', () => {
  it('send one of type 2, and a legacy one at a gas price', async () => {
    const node = await servedNode({ rules: 'next' })
    try {
      const send = async (price?: `0x${string}`) => {
        const step = { send: { from, to: OTHER, ...(price !== undefined && { gasPrice: price }) } } as const
        const text = stepText('cast', `${node.url}/`, { block: 'latest', steps: [] }, step, true)
        await runShell(text, CAST)
        return (await node.call('eth_getBlockByNumber', 'latest', true)).transactions[0].type
      }
      expect(await send()).toBe('0x2')
      expect(await send('0x3938700')).toBe('0x0')
    } finally {
      await node.close()
    }
  })
})

describe('a text', () => {
  const url = 'http://127.0.0.1:4444/'
  it('has words of its own for a plain call and a transaction', () => {
    const call: ScenarioStep = { call: { to: OTHER, value: `0x${COIN.toString(16)}` } }
    const scenario = { block: '0x10', steps: [call] }
    expect(stepText('cast', url, scenario, call)).toBe(
      `cast call --rpc-url ${url} --block 16 --value ${COIN} ${OTHER}`,
    )
    expect(stepText('viem', url, scenario, call)).toBe(
      [
        'import { createPublicClient, http } from "viem"',
        '',
        `const client = createPublicClient({ transport: http("${url}") })`,
        'const { data } = await client.call({',
        `  to: "${OTHER}",`,
        `  value: ${COIN}n,`,
        '  blockNumber: 16n,',
        '})',
        'console.log(data)',
      ].join('\n'),
    )
  })

  it.each<[string, ScenarioStep]>([
    ['Enter the account that sends', { send: { to: OTHER } }],
    [
      'No method of the node empties the storage of an account: set single slots',
      { set: { [OTHER]: { state: {} } } },
    ],
    [
      'Precompiled contracts move only in a simulation',
      { set: { [OTHER]: { movePrecompileToAddress: OTHER } } },
    ],
  ])('is refused: %s', (text, step) => {
    expect(() => stepText('curl', url, { block: 'latest', steps: [] }, step)).toThrow(new Error(text))
  })

  it('of a call at a place within a block is a simulation', () => {
    const call: ScenarioStep = { call: { to: OTHER } }
    expect(stepText('cast', url, { block: '0x10', transactionIndex: 2, steps: [] }, call)).toBe(
      `cast rpc --rpc-url ${url} --raw evm_simulate '[{"steps":[{"call":{"to":"${OTHER}"}}],"transactionIndex":2},"0x10"]'`,
    )
  })
})
