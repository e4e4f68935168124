import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ListenError } from '../../src/transport/listen.ts'
import { serve } from '../../src/transport/server.ts'
import { serveEcho } from './echo-node.ts'

/** Beyond the time limit of a test: a server that waits for it fails. */
const LONG = { graceMs: 600_000 }

async function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
}

describe.each([true, false])('with fastHttp: %s', (fastHttp) => {
  describe('a server', () => {
    it('reports its URLs', async () => {
      const { server, close } = await serveEcho({ fastHttp, host: '0.0.0.0', unsafeOpen: true })
      expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
      expect(server.wsUrl).toBe(`ws://127.0.0.1:${server.port}`)
      await close()
    })

    it('reports why it cannot listen', async () => {
      const { server, close } = await serveEcho({ fastHttp })
      const again = serve({ dispatcher: { dispatchText: async () => undefined } }, { port: server.port })
      await expect(again).rejects.toThrow(
        new ListenError(
          `Cannot listen on 127.0.0.1 port ${server.port}: the port is in use by another process.`,
        ),
      )
      await close()
    })

    it('refuses bad options before it listens', async () => {
      const dispatcher = { dispatchText: async () => undefined }
      await expect(serve({ dispatcher }, { port: -1 })).rejects.toMatchObject({ kind: 'invalid-options' })
    })

    it('shows a hosted node to callers without keys only with the option unsafeOpen', async () => {
      const hosted = {
        dispatcher: { dispatchText: async () => 'x' },
        options: { profile: 'hosted' },
      } as const
      await expect(serve(hosted, { port: 0 })).rejects.toMatchObject({
        kind: 'invalid-options',
        message:
          'The hosted profile asks every caller for a key: name a key file (--api-keys), or set --unsafe-open.',
      })
      const open = await serve(hosted, { port: 0, unsafeOpen: true, fastHttp })
      expect(await (await post(open.url, '{}')).text()).toBe('x')
      await open.close()
    })

    it('finishes running requests, accepts no new ones, and closes idle connections', async () => {
      const { server, release, holding } = await serveEcho({ fastHttp })
      const silent = connect(server.port, '127.0.0.1')
      await once(silent, 'connect')
      const idle = connect(server.port, '127.0.0.1')
      idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await once(idle, 'data')
      const running = post(server.url, 'hold')
      await holding
      const closing = server.close(LONG)
      await expect(post(server.url, 'x')).rejects.toThrow()
      release()
      const response = await running
      expect(await response.text()).toBe('echo:hold')
      expect(response.headers.get('connection')).toBe('close')
      await closing
      silent.destroy()
      idle.destroy()
    })

    it('answers the running message of a WebSocket, then closes it with 1001', async () => {
      const { server, release, holding, seen } = await serveEcho({ fastHttp })
      const socket = new WebSocket(server.wsUrl)
      await once(socket, 'open')
      const got: string[] = []
      socket.on('message', (data) => got.push(String(data)))
      socket.send('hold')
      socket.send('late')
      await holding
      const ended = once(socket, 'close')
      const closing = server.close(LONG)
      release()
      expect((await ended)[0]).toBe(1001)
      expect([got, seen]).toEqual([['echo:hold'], ['hold']])
      await closing
    })

    it('destroys connections that do not end in time', async () => {
      const { server, holding } = await serveEcho({ fastHttp })
      const socket = new WebSocket(server.wsUrl)
      await once(socket, 'open')
      const socketGone = once(socket, 'close')
      socket.send('hold')
      const requestGone = new Promise((resolve) => {
        const headers = { 'Content-Type': 'application/json' }
        request(server.url, { method: 'POST', headers }).on('error', resolve).end('hold')
      })
      await holding
      await server.close({ graceMs: 0 })
      await Promise.all([socketGone, requestGone])
    })

    it('closes once, however often it is asked', async () => {
      const { server } = await serveEcho({ fastHttp })
      expect(server.close()).toBe(server.close())
      await server.close()
    })
  })
})
