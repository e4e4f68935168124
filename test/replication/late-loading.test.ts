/** A node of its own loads neither the code of clusters nor NATS's client. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const INDEX = new URL('../../dist/index.js', import.meta.url).href

/** Texts of the code of clusters and of NATS's client, which a bundle of them holds as well. */
const TEXTS = { cluster: 'the log refused a record', client: '_INBOX' }

/** Prints what is loaded of either. */
const HOOKS = `export async function load(url, context, next) {
  const loaded = await next(url, context)
  for (const [what, text] of Object.entries(${JSON.stringify(TEXTS)}))
    if (String(loaded.source).includes(text)) process._rawDebug('loaded ' + what)
  return loaded
}`

/** Runs a node of its own, then one that cannot join its cluster: nothing listens on port 1. */
const SCRIPT = `
  import { register } from 'node:module'
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}))
  const { createNode, serve } = await import(${JSON.stringify(INDEX)})
  const node = await createNode()
  const server = await serve(node, { port: 0 })
  const [from] = await node.request({ method: 'eth_accounts' })
  await node.request({ method: 'eth_sendTransaction', params: [{ from, to: from }] })
  for (const page of ['readyz', 'metrics']) await fetch(server.url + '/' + page)
  await server.close()
  await node.close()
  process._rawDebug('joining')
  await createNode({ cluster: 'nats://127.0.0.1:1' }).catch(({ message }) => process._rawDebug(message))`

it('loads the code of clusters only for a node with the option "cluster"', async () => {
  const run = promisify(execFile)
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  const lines = stderr.split('\n')
  const joining = lines.indexOf('joining')
  expect(lines.slice(0, joining).filter((line) => line.startsWith('loaded '))).toEqual([])
  const later = lines.slice(joining).join('\n')
  expect(later).toMatch(/^loaded cluster$/m)
  expect(later).toMatch(/^loaded client$/m)
  expect(later).toMatch(/^NATS at nats:\/\/127\.0\.0\.1:1 cannot be used/m)
})
