/** A node of its own loads neither the code of clusters nor NATS's client. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const INDEX = new URL('../../dist/index.js', import.meta.url).href

/** Prints the URLs of what is loaded of either. */
const HOOKS = `export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  if (/dist.replication|nats-io/.test(found.url)) process._rawDebug('loaded ' + found.url)
  return found
}`

/** What a node with these options loads of them; the node runs in a process of its own, from the build. */
async function loadedWith(options: object): Promise<string[]> {
  const script = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}))
    const { createNode, serve } = await import(${JSON.stringify(INDEX)})
    try {
      const node = await createNode(${JSON.stringify(options)})
      const server = await serve(node, { port: 0 })
      const [from] = await node.request({ method: 'eth_accounts' })
      await node.request({ method: 'eth_sendTransaction', params: [{ from, to: from }] })
      for (const page of ['readyz', 'metrics']) await fetch(server.url + '/' + page)
      await server.close()
      await node.close()
    } catch (error) {
      if (error.kind !== 'cluster') throw error
    }`
  const run = promisify(execFile)
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  return stderr.split('\n').filter((line) => line.startsWith('loaded '))
}

it('loads the code of clusters for a node with the option "cluster" only', async () => {
  // Nothing listens on port 1: the node ends after its code was loaded.
  const [alone, joining] = await Promise.all([loadedWith({}), loadedWith({ cluster: 'nats://127.0.0.1:1' })])
  expect(alone).toEqual([])
  expect(joining.some((line) => line.includes('replication/cluster.js'))).toBe(true)
  expect(joining.some((line) => line.includes('@nats-io/transport-node'))).toBe(true)
})
