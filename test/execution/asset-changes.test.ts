/** Asset changes of logs as ethers encodes them, and of logs that only resemble the events. */
import { AbiCoder, Interface, id } from 'ethers'
import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/chain/receipt.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { assetChanges, TOKEN_EVENT } from '../../src/execution/asset-changes.ts'
import { artifact } from '../support/contracts.ts'

const TOKEN: Hex = '0x00000000000000000000000000000000c0de0001'
const A: Hex = '0x00000000000000000000000000000000000000aa'
const B: Hex = '0x00000000000000000000000000000000000000bb'
const abi = {
  erc20: new Interface(artifact('Token').abi),
  erc721: new Interface(artifact('Deed').abi),
  erc1155: new Interface(artifact('Goods').abi),
}
const hex = (text: string): Hex => `0x${text.replace(/^0x/, '')}`

function log(topics: readonly string[], data: string): Log {
  return { address: TOKEN, topics: topics.map(hex), data: fromHex(data) }
}
function emitted(standard: keyof typeof abi, event: string, ...args: unknown[]): Log {
  const { topics, data } = abi[standard].encodeEventLog(event, args)
  return log(topics, data)
}
const changesOf = (...logs: Log[]) => assetChanges(logs.map((one) => ({ log: one })))
const between = { from: A, to: B, token: TOKEN }

describe('asset changes', () => {
  it('have the topics of the standards', () => {
    expect(TOKEN_EVENT).toEqual({
      transfer: id('Transfer(address,address,uint256)'),
      approval: id('Approval(address,address,uint256)'),
      approvalForAll: id('ApprovalForAll(address,address,bool)'),
      transferSingle: id('TransferSingle(address,address,address,uint256,uint256)'),
      transferBatch: id('TransferBatch(address,address,address,uint256[],uint256[])'),
    })
  })

  it.each([
    ['erc20', 'Transfer', [A, B, 5n], [{ type: 'erc20', change: 'transfer', ...between, amount: 5n }]],
    ['erc20', 'Approval', [A, B, 6n], [{ type: 'erc20', change: 'approve', ...between, amount: 6n }]],
    ['erc721', 'Transfer', [A, B, 7n], [{ type: 'erc721', change: 'transfer', ...between, tokenId: 7n }]],
    ['erc721', 'Approval', [A, B, 8n], [{ type: 'erc721', change: 'approve', ...between, tokenId: 8n }]],
    [
      'erc721',
      'ApprovalForAll',
      [A, B, true],
      [{ type: 'erc721', change: 'approve', ...between, approved: true }],
    ],
    [
      'erc1155',
      'TransferSingle',
      [TOKEN, A, B, 1n, 2n],
      [{ type: 'erc1155', change: 'transfer', ...between, amount: 2n, tokenId: 1n }],
    ],
    ['erc1155', 'TransferBatch', [TOKEN, A, B, [], []], []],
    [
      'erc1155',
      'TransferBatch',
      [TOKEN, A, B, [1n, 2n], [3n, 4n]],
      [
        { type: 'erc1155', change: 'transfer', ...between, amount: 3n, tokenId: 1n },
        { type: 'erc1155', change: 'transfer', ...between, amount: 4n, tokenId: 2n },
      ],
    ],
  ] as const)('of %s %s', (standard, event, args, expected) => {
    expect(changesOf(emitted(standard, event, ...args))).toEqual(expected)
  })

  const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
  const addresses = [word(BigInt(A)), word(BigInt(B))]
  const batch = (data: string) => log([TOKEN_EVENT.transferBatch, word(1), ...addresses], data)
  it.each([
    [
      'without indexed values',
      log(
        [TOKEN_EVENT.transfer],
        AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint256'], [A, B, 1n]),
      ),
    ],
    ['without an amount', log([TOKEN_EVENT.transfer, ...addresses], '0x')],
    ['with a party that is no address', log([TOKEN_EVENT.transfer, word(1n << 160n), word(1)], hex(word(1)))],
    ['with a flag of 2', log([TOKEN_EVENT.approvalForAll, ...addresses], hex(word(2)))],
    ['with a batch of two lengths', batch(hex([64, 128, 1, 5, 2, 6, 7].map(word).join('')))],
    ['with a list behind the data', batch(hex([2n ** 255n, 64n, 0n].map(word).join('')))],
    ['with a list longer than the data', batch(hex([64n, 64n, 2n ** 200n].map(word).join('')))],
    ['without topics', log([], hex(word(1)))],
    ['of another event', log([id('Sent(address,address,uint256)'), ...addresses], hex(word(1)))],
  ])('leave out a log %s', (_, one) => {
    expect(changesOf(one)).toEqual([])
  })

  it('show a balance that a contract burns by destroying itself', () => {
    const transfer = { from: A, to: A, value: 3n, isBurnt: true }
    expect(assetChanges([{ transfer }, { transfer: { ...transfer, to: B, isBurnt: false } }])).toEqual([
      { type: 'native', change: 'transfer', from: A, to: `0x${'0'.repeat(40)}`, amount: 3n },
      { type: 'native', change: 'transfer', from: A, to: B, amount: 3n },
    ])
  })
})
