/** `tandem dap` with the test client of VS Code's debug adapters (@vscode/debugadapter-testsupport). */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DebugClient } from '@vscode/debugadapter-testsupport'
import type { DebugProtocol } from '@vscode/debugprotocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NodeDebugSession } from '../../src/cli/dap/adapter.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { serve } from '../../src/index.ts'
import { DebuggerCase, SENDER } from '../support/debugger-cases.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const FIXTURES = fileURLToPath(new URL('../../fixtures/debugger', import.meta.url))
const SOURCE = join(FIXTURES, 'Old.sol')
const THREAD = 1

let of: DebuggerCase
let address: Hex
let served: Awaited<ReturnType<typeof serve>>
let adapter: Server
let port: number
let folder: string
beforeAll(async () => {
  of = await DebuggerCase.open('Old-0.8.35')
  ;({ address } = await of.deploy(5, `0x${'12'.repeat(32)}`))
  served = await serve(of.node, { port: 0 })
  adapter = createServer((socket) => {
    const session = new NodeDebugSession()
    session.setRunAsServer(true)
    session.start(socket, socket)
  })
  port = await new Promise((resolve) =>
    adapter.listen(0, '127.0.0.1', () => resolve((adapter.address() as { port: number }).port)),
  )
  folder = mkdtempSync(join(tmpdir(), 'tandem-dap-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  adapter.close()
  await served.close()
  await of.node.close()
})

let client: DebugClient
beforeEach(async () => {
  client = new DebugClient('node', '', 'tandem')
  await client.start(port)
})
afterEach(() => client.stop())

const options = (more: object) => ({ url: served.url, sourceRoot: FIXTURES, ...more })

/** Launches, and waits until the session stands somewhere. */
async function stopped(more: object): Promise<DebugProtocol.StoppedEvent> {
  const [event] = await Promise.all([
    client.waitForEvent('stopped'),
    client.waitForEvent('initialized').then(() => client.configurationDoneRequest()),
    client.launch(options(more)),
  ])
  return event as DebugProtocol.StoppedEvent
}

async function lines(): Promise<string[]> {
  const { body } = await client.stackTraceRequest({ threadId: THREAD })
  return body.stackFrames.map(({ name, line }) => `${name}:${line}`)
}

async function movedBy(request: Promise<unknown>): Promise<string[]> {
  await Promise.all([client.waitForEvent('stopped'), request])
  return lines()
}

async function locals(frameId = 0): Promise<Record<string, string>> {
  const { body } = await client.scopesRequest({ frameId })
  const scope = body.scopes.find(({ name }) => name === 'Locals')
  const found = await client.variablesRequest({ variablesReference: scope?.variablesReference ?? 0 })
  return Object.fromEntries(found.body.variables.map(({ name, value }) => [name, value]))
}

describe('tandem dap', () => {
  it('stands at the failing line of a transaction, with its variables and its message', async () => {
    const hash = await of.call(address, 'fail', 9)
    const event = await stopped({ transaction: hash })
    expect(event.body).toMatchObject({ reason: 'exception', text: expect.stringContaining('too much') })
    expect(await lines()).toEqual(['Old.check:136', 'Old.fail:130'])
    const { body } = await client.stackTraceRequest({ threadId: THREAD })
    expect(body.stackFrames[0]?.source?.path).toBe(SOURCE)
    expect(await locals()).toEqual({ amount: '9', limit: '10', rest: '9' })
    expect(await locals(1)).toEqual({ amount: '9', limit: '10' })
    const info = await client.exceptionInfoRequest({ threadId: THREAD })
    expect(info.body.description).toContain('too much')
    const value = await client.evaluateRequest({ expression: 'msg.sender', frameId: 0 })
    expect(value.body.result).toBe(SENDER)
    await expect(client.evaluateRequest({ expression: 'nothing', frameId: 0 })).rejects.toThrow(
      /nothing is not known/,
    )
  })

  it('opens what failed last when nothing is named', async () => {
    await of.node
      .request({
        method: 'eth_call',
        params: [{ to: address, data: of.interface.encodeFunctionData('fail', [77]) }],
      })
      .catch(() => {})
    await stopped({})
    expect(await lines()).toEqual(['Old.check:136', 'Old.fail:130'])
    expect(await locals()).toMatchObject({ amount: '77' })
  })

  it('stops at breakpoints, steps in both directions, and ends', async () => {
    const transaction = await of.call(address, 'loops', 3)
    await Promise.all([
      client.waitForEvent('stopped'),
      client.waitForEvent('initialized').then(async () => {
        const { body } = await client.setBreakpointsRequest({
          source: { path: SOURCE },
          breakpoints: [{ line: 80 }, { line: 400 }],
        })
        expect(body.breakpoints).toMatchObject([{ verified: true, line: 80 }, { verified: false }])
        await client.configurationDoneRequest()
      }),
      client.launch(options({ transaction, stopOnEntry: false })),
    ])
    expect(await locals()).toMatchObject({ i: '0', square: '0' })
    expect(await movedBy(client.continueRequest({ threadId: THREAD }))).toEqual(['Old.loops:80'])
    expect(await locals()).toMatchObject({ i: '1', square: '1', sum: '0' })
    expect(await movedBy(client.nextRequest({ threadId: THREAD }))).toEqual(['Old.loops:81'])
    expect(await locals()).toMatchObject({ sum: '1' })
    expect(await movedBy(client.stepBackRequest({ threadId: THREAD }))).toEqual(['Old.loops:80'])
    expect(await movedBy(client.reverseContinueRequest({ threadId: THREAD }))).toEqual(['Old.loops:80'])
    expect(await locals()).toMatchObject({ i: '0' })
    await movedBy(client.reverseContinueRequest({ threadId: THREAD }))
    for (let at = 0; at < 4; at++) await movedBy(client.continueRequest({ threadId: THREAD }))
    await Promise.all([client.waitForEvent('terminated'), client.continueRequest({ threadId: THREAD })])
  })

  it('steps into and out of calls, and shows structs, mappings and the machine', async () => {
    await stopped({ transaction: await of.call(address, 'memories', 2) })
    await client.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [{ line: 125 }] })
    await movedBy(client.continueRequest({ threadId: THREAD }))
    const { body } = await client.scopesRequest({ frameId: 0 })
    const scope = (name: string) => body.scopes.find((one) => one.name === name)?.variablesReference ?? 0
    const variables = async (variablesReference: number) =>
      (await client.variablesRequest({ variablesReference })).body.variables
    const state = await variables(scope('State'))
    const kept = state.find(({ name }) => name === 'kept')
    expect(kept).toMatchObject({ type: 'struct Old.Item', evaluateName: 'kept' })
    const members = await variables(kept?.variablesReference ?? 0)
    expect(members.map(({ name, value }) => `${name}=${value}`)).toContain('label="label"')
    const marks = members.find(({ name }) => name === 'marks')
    expect((await variables(marks?.variablesReference ?? 0)).map(({ value }) => value)).toEqual([
      '1',
      '2',
      '3',
    ])
    const balances = state.find(({ name }) => name === 'balances')
    expect(await variables(balances?.variablesReference ?? 0)).toMatchObject([{ name: SENDER, value: '77' }])
    expect((await variables(scope('Stack'))).length).toBeGreaterThan(3)
    expect((await variables(scope('Memory')))[2]?.value).toMatch(/^0x0{50,}/)
    expect((await variables(scope('Storage'))).length).toBeGreaterThan(5)
    expect(await movedBy(client.stepOutRequest({ threadId: THREAD }))).toHaveLength(1)
  })

  it('opens a step of a simulation file, and sends sources that the editor does not have', async () => {
    const path = join(folder, 'simulation.json')
    const data = (amount: number) => of.interface.encodeFunctionData('fail', [amount])
    const steps = [
      { call: { to: address, data: data(1) } },
      { send: { from: SENDER, to: address, data: data(9) } },
    ]
    writeFileSync(path, JSON.stringify({ format: 'tandem-simulation', version: 1, block: 'latest', steps }))
    await stopped({ simulation: path, sourceRoot: folder })
    expect(await lines()).toEqual(['Old.check:136', 'Old.fail:130'])
    const { body } = await client.stackTraceRequest({ threadId: THREAD })
    const reference = body.stackFrames[0]?.source?.sourceReference ?? 0
    const source = await client.sourceRequest({ sourceReference: reference })
    expect(source.body.content).toContain('contract Old is Base')
  })

  it.each([
    [{ transaction: '0x12' }, /transaction: expected 0x and 64 hex digits/],
    [{ transaction: `0x${'9'.repeat(64)}` }, /nothing to debug/],
    [{ transaction: `0x${'9'.repeat(64)}`, call: {} }, /exclude each other/],
    [{ simulation: '/nowhere.json' }, /cannot be read/],
    [{ url: 'http://127.0.0.1:1' }, /No node answers/],
    [{ url: 'ftp://x' }, /url/],
  ])('refuses %j', async (more, message) => {
    await client.initializeRequest()
    await expect(client.launchRequest(options(more) as DebugProtocol.LaunchRequestArguments)).rejects.toThrow(
      message,
    )
  })

  it('serves an editor over standard input and output', async () => {
    const transaction = await of.call(address, 'fail', 9)
    const stdio = new DebugClient('node', `${MAIN} dap`, 'tandem', { shell: true })
    await stdio.start()
    try {
      const [event] = await Promise.all([
        stdio.waitForEvent('stopped'),
        stdio.waitForEvent('initialized').then(() => stdio.configurationDoneRequest()),
        stdio.launch(options({ transaction })),
      ])
      expect(event.body).toMatchObject({ reason: 'exception' })
    } finally {
      await stdio.stop()
    }
  })

  it('listens on TCP', async () => {
    const child = spawn(process.execPath, [MAIN, 'dap', '--port', '0'])
    const bound = await new Promise<number>((resolve) =>
      child.stdout.on('data', (text) => {
        const found = /127\.0\.0\.1:(\d+)/.exec(String(text))?.[1]
        if (found !== undefined) resolve(Number(found))
      }),
    )
    const tcp = new DebugClient('node', '', 'tandem')
    await tcp.start(bound)
    try {
      const { body } = await tcp.initializeRequest()
      expect(body).toMatchObject({ supportsStepBack: true, supportsExceptionInfoRequest: true })
    } finally {
      await tcp.stop()
      child.kill()
    }
  })
})
