/** Packages that an installation may lack: not needed unless they are asked for, and then named. */
import { describe, expect, it } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'

/** Hooks of the module loader that find no package of OpenTelemetry. */
const HOOKS = `export async function resolve(specifier, context, next) {
  if (!specifier.startsWith('@opentelemetry/')) return next(specifier, context)
  throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`
const asModule = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`
const WITHOUT = {
  NODE_OPTIONS: `--import ${asModule(`import { register } from 'node:module'; register("${asModule(HOOKS)}")`)}`,
}

describe('without OpenTelemetry', () => {
  it('a node starts', async () => {
    const node = await startCommand(['--memory'], { env: WITHOUT })
    expect(await rpc(node.url, 'eth_chainId')).toBe('0x21')
    expect(await node.end('SIGTERM')).toBe(0)
  })

  it('--telemetry names the package and how to install it', async () => {
    const { code, stderr } = await runCommand(['start', '--memory', '--port', '0', '--telemetry'], WITHOUT)
    expect(stderr).toContain(
      'Option "telemetry" needs the package @opentelemetry/sdk-node (npm install @opentelemetry/sdk-node)',
    )
    expect(code).toBe(2)
  })
})
