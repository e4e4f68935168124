/** A WebSocket over which many calls are made at once, and their replies taken in order. */
import { WebSocket } from 'ws'

/** An open socket. */
export interface Conversation {
  /** The text of the reply to each of these calls, whose parameters are JSON text. Rejects when the socket closes. */
  callAll(method: string, params: readonly string[]): Promise<readonly string[]>
  close(): void
}

/** Opens one. */
export async function converse(url: string): Promise<Conversation> {
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  let next = 0
  return {
    callAll(method, params) {
      const replies: string[] = []
      const first = next
      next += params.length
      if (params.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          socket.off('message', onMessage).off('close', onClose)
          settle()
        }
        const onClose = (code: number) => end(() => reject(new Error(`the socket closed with ${code}`)))
        const onMessage = (data: unknown) => {
          const text = String(data)
          const { id } = JSON.parse(text)
          // What subscriptions push is no reply.
          if (id === undefined) return
          if (id !== null && id !== first + replies.length) {
            return end(() => reject(new Error(`reply ${id} is out of turn`)))
          }
          if (replies.push(text) === params.length) end(() => resolve(replies))
        }
        socket.on('message', onMessage).on('close', onClose)
        for (const [i, text] of params.entries()) {
          socket.send(
            `{"jsonrpc":"2.0","id":${first + i},"method":${JSON.stringify(method)},"params":${text}}`,
          )
        }
      })
    },
    close: () => socket.terminate(),
  }
}
