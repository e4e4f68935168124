import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type EchoNode, newsOf, newsText, serveEcho } from './echo-node.ts'

let node: EchoNode

async function open(
  path = '/',
  options: ConstructorParameters<typeof WebSocket>[2] = {},
): Promise<WebSocket> {
  const socket = new WebSocket(node.server.wsUrl + path, options)
  await once(socket, 'open')
  return socket
}

/** The next messages, as text. */
function messages(socket: WebSocket, count: number): Promise<string[]> {
  const got: string[] = []
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      got.push(String(data))
      if (got.length === count) resolve(got)
    })
  })
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = await once(socket, 'close')
  return code
}

async function refusedUpgrade(options: ConstructorParameters<typeof WebSocket>[2]) {
  const socket = new WebSocket(node.server.wsUrl, options)
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, body: JSON.parse(text) }
}

beforeEach(async () => {
  node = await serveEcho({ maxBodyBytes: 1000 })
})
afterEach(() => node.close())

describe('a WebSocket', () => {
  it('is answered on the port of HTTP, on any path', async () => {
    for (const path of ['/', '/websocket', '/KEY']) {
      const socket = await open(path)
      const got = messages(socket, 1)
      socket.send('hello')
      expect(await got).toEqual(['echo:hello'])
    }
  })

  it('is one session, which can be notified and ends with it', async () => {
    const [one, two] = [await open(), await open()]
    const got = [messages(one, 2), messages(two, 1)]
    for (const text of ['a', 'b']) one.send(text)
    two.send('c')
    await Promise.all(got)
    expect(node.sessions).toHaveLength(2)
    const [session] = node.sessions
    const news = messages(one, 1)
    session?.notify?.(newsOf({ hello: 1 }))
    expect(await news).toEqual([newsText({ hello: 1 })])
    const left = new Promise<void>((resolve) => session?.onClose?.(resolve))
    one.close()
    await left
    let calledAtOnce = false
    session?.onClose?.(() => {
      calledAtOnce = true
    })
    expect(calledAtOnce).toBe(true)
    session?.notify?.(newsOf('nobody receives this'))
  })

  it('is answered in order, one message after another', async () => {
    const socket = await open()
    const got = messages(socket, 3)
    for (const text of ['hold', 'silent', 'second', 'third']) socket.send(text)
    await node.holding
    expect(node.seen).toEqual(['hold'])
    node.release()
    expect(await got).toEqual(['echo:hold', 'echo:second', 'echo:third'])
  })

  it('receives the ID of its subscription before its notifications', async () => {
    const socket = await open()
    const got = messages(socket, 2)
    socket.send('subscribe')
    expect(await got).toEqual(['echo:subscribe', newsText(1)])
  })

  it('loses no message when the client sends faster than it is answered', async () => {
    const socket = await open()
    const count = 2000
    const got = messages(socket, count)
    socket.send('hold')
    for (let i = 1; i < count; i++) socket.send(String(i))
    await node.holding
    node.release()
    const all = await got
    expect(all[0]).toBe('echo:hold')
    expect(all.slice(1)).toEqual(Array.from({ length: count - 1 }, (_, i) => `echo:${i + 1}`))
  })

  it('is answered while another WebSocket waits', async () => {
    const [slow, quick] = [await open(), await open()]
    slow.send('hold')
    await node.holding
    const got = messages(quick, 1)
    quick.send('x')
    expect(await got).toEqual(['echo:x'])
    node.release()
  })

  it('with a message beyond the limit is closed with 1009', async () => {
    const socket = await open()
    const got = messages(socket, 1)
    socket.send('x'.repeat(1000))
    await got
    const code = closeCode(socket)
    socket.send('x'.repeat(1001))
    expect(await code).toBe(1009)
  })

  it('with a binary message is closed with 1003', async () => {
    const socket = await open()
    const code = closeCode(socket)
    socket.send(Buffer.from('{}'))
    expect(await code).toBe(1003)
    expect(node.seen).toEqual([])
  })

  it('that is being closed is read up to its close frame', async () => {
    const socket = await open()
    const closed = closeCode(socket)
    socket.send(Buffer.from([1]))
    // More than a mebibyte, at which a socket is paused.
    for (let i = 0; i < 1100; i++) socket.send('x'.repeat(1000))
    expect(await closed).toBe(1003)
    // ws would wait half a minute for the frame.
  }, 15_000)

  it('receives nothing of an internal failure but code 1011', async () => {
    const socket = await open()
    const closed = once(socket, 'close')
    socket.send('broken')
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1011, 'Internal server error'])
  })

  it('of a foreign page or for a rebound name is refused with 403', async () => {
    for (const headers of [{ Origin: 'http://evil.example' }, { Host: 'evil.example' }]) {
      expect(await refusedUpgrade({ headers })).toMatchObject({
        status: 403,
        body: { error: { code: -32001 } },
      })
    }
  })

  it('of a listed page is accepted', async () => {
    await node.close()
    node = await serveEcho({ cors: ['http://app.example'] })
    const socket = await open('/', { headers: { Origin: 'http://app.example' } })
    const got = messages(socket, 1)
    socket.send('x')
    expect(await got).toEqual(['echo:x'])
  })

  it('that does not read what it subscribed to is closed with 1013 and a reason, while others receive everything', async () => {
    await node.close()
    node = await serveEcho({ maxSocketBuffer: 400_000 })
    const [slow, quick] = [await open(), await open()]
    for (const socket of [slow, quick]) {
      const got = messages(socket, 1)
      socket.send('x')
      await got
    }
    const [slowSession, quickSession] = node.sessions
    let left = false
    slowSession?.onClose?.(() => {
      left = true
    })
    slow.pause()
    let received = 0
    quick.on('message', () => received++)
    const news = newsOf('x'.repeat(300_000))
    let sent = 0
    // What the system's own buffers hold is some megabytes.
    for (; !left && sent < 2000; sent++) {
      const got = once(quick, 'message')
      slowSession?.notify?.(news)
      quickSession?.notify?.(news)
      await got
    }
    expect(left).toBe(true)
    expect(received).toBe(sent)
    slowSession?.notify?.(news)
    const closed = once(slow, 'close')
    slow.resume()
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([
      1013,
      'Too slow: more than 400000 bytes of notifications are unread',
    ])
    const got = messages(quick, 1)
    quick.send('still here')
    expect(await got).toEqual(['echo:still here'])
  })

  it('receives earlier notifications before the answer to its request', async () => {
    const socket = await open()
    const first = messages(socket, 1)
    socket.send('x')
    await first
    const got = messages(socket, 3)
    node.sessions[0]?.notify?.(newsOf(1))
    node.sessions[0]?.notify?.(newsOf(2))
    socket.send('y')
    expect(await got).toEqual([newsText(1), newsText(2), 'echo:y'])
  })

  it('that breaks off does not affect the server', async () => {
    const socket = await open()
    socket.send('hold')
    await node.holding
    const left = new Promise<void>((resolve) => node.sessions[0]?.onClose?.(resolve))
    socket.terminate()
    await left
    node.release()
    const other = await open()
    const got = messages(other, 1)
    other.send('x')
    expect(await got).toEqual(['echo:x'])
  })
})
