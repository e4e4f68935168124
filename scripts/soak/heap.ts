/** The live heap of a node: its size after a garbage collection through the inspector. */
import { WebSocket } from 'ws'

/** Flags of Node.js that open the inspector, on a free port of this machine. */
export const INSPECTED: readonly string[] = ['--inspect=127.0.0.1:0']

/** What Node.js prints about its inspector; none of it is an error of the node. */
export const INSPECTOR_LINES =
  /^(Debugger (listening on|attached|ending on)|For help, see: https:\/\/nodejs\.org).*\n/gm

/** Where the inspector listens, from the output of the process. */
export function inspectorOf(output: string): string | undefined {
  return /Debugger listening on (ws:\S+)/.exec(output)?.[1]
}

interface HeapUsage {
  readonly usedSize: number
  /** Of array buffers. */
  readonly backingStorageSize?: number
}

/** A look into a process. */
export interface HeapScale {
  /** Live bytes after a collection; `undefined` when the process has ended. */
  weigh(): Promise<number | undefined>
  close(): void
}

/** Attaches to an inspector. */
export async function openHeapScale(url: string): Promise<HeapScale> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  let id = 0
  const waiting = new Map<number, (result: unknown) => void>()
  socket.on('message', (data) => {
    const { id: answered, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }
    if (answered === undefined) return
    waiting.get(answered)?.(result)
    waiting.delete(answered)
  })
  socket.on('close', () => {
    for (const settle of waiting.values()) settle(undefined)
    waiting.clear()
  })
  const ask = (method: string) =>
    new Promise<unknown>((resolve) => {
      if (socket.readyState !== WebSocket.OPEN) return resolve(undefined)
      waiting.set(++id, resolve)
      socket.send(JSON.stringify({ id, method }))
    })
  return {
    async weigh() {
      await ask('HeapProfiler.collectGarbage')
      const usage = (await ask('Runtime.getHeapUsage')) as HeapUsage | undefined
      return usage && usage.usedSize + (usage.backingStorageSize ?? 0)
    },
    close: () => socket.terminate(),
  }
}
