/** What transports ask of a dispatcher. */
import { expect, it } from 'vitest'
import { dispatchLong } from '../../src/transport/text-dispatcher.ts'
import { SESSION } from '../support/rpc.ts'

it('runs a message without an answer once, whether the dispatcher is synchronous or not', async () => {
  const asked: string[] = []
  const dispatchText = async (text: string) => {
    asked.push(text)
    return undefined
  }
  const dispatchPieces = (text: string) => {
    asked.push(text)
    return undefined
  }
  expect(dispatchLong({ dispatchText, dispatchPieces }, 'at once', SESSION)).toBeUndefined()
  expect(await dispatchLong({ dispatchText }, 'later', SESSION)).toBeUndefined()
  expect(asked).toEqual(['at once', 'later'])
})
