import { Interface, keccak256, toUtf8Bytes } from 'ethers'
import { describe, expect, it } from 'vitest'
import { loadAbiCodec } from '../../src/abi/codec.ts'
import { consoleText } from '../../src/abi/console.ts'
import { fromHex } from '../../src/encoding/hex.ts'

const codec = await loadAbiCodec()
const WHO = `0x${'12'.repeat(20)}`

function printed(types: string, ...values: unknown[]): string {
  const coder = new Interface([`function log(${types})`])
  return consoleText(fromHex(coder.encodeFunctionData('log', values)), codec)
}

/** The call data of a signature that is hashed as it is written. */
function legacy(signature: string, types: string, ...values: unknown[]): string {
  const selector = keccak256(toUtf8Bytes(signature)).slice(2, 10)
  const args = new Interface([`function log(${types})`]).encodeFunctionData('log', values).slice(10)
  return consoleText(fromHex(`0x${selector}${args}`), codec)
}

describe('console.log', () => {
  it.each([
    ['', [], ''],
    ['string', ['hello'], 'hello'],
    ['uint256', [5n], '5'],
    ['int256', [-5n], '-5'],
    ['bool', [true], 'true'],
    ['address', [WHO], WHO],
    ['bytes', ['0x0102'], '0x0102'],
    ['bytes4', ['0x01020304'], '0x01020304'],
    ['bytes32', [`0x${'ab'.repeat(32)}`], `0x${'ab'.repeat(32)}`],
    ['string,int256', ['n', -1n], 'n -1'],
    ['uint256,string,bool,address', [1n, 'a', false, WHO], `1 a false ${WHO}`],
    ['address,address,address,address', [WHO, WHO, WHO, WHO], [WHO, WHO, WHO, WHO].join(' ')],
  ])('decodes log(%s)', (types, values, text) => {
    expect(printed(types, ...values)).toBe(text)
  })

  it('decodes every list of four of its types', () => {
    const samples: Record<string, unknown> = { uint256: 7n, string: 's', bool: true, address: WHO }
    const names = Object.keys(samples)
    for (let i = 0; i < 256; i++) {
      const types = [0, 1, 2, 3].map((at) => names[(i >> (2 * at)) & 3] as string)
      const values = types.map((type) => samples[type])
      expect(printed(types.join(','), ...values)).toBe(values.join(' '))
    }
  })

  it('decodes the selectors of integers without a width', () => {
    expect(legacy('log(uint)', 'uint256', 5n)).toBe('5')
    expect(legacy('log(int)', 'int256', -5n)).toBe('-5')
    expect(legacy('log(string,uint)', 'string,uint256', 'a', 5n)).toBe('a 5')
    expect(legacy('log(uint,bool,string,uint)', 'uint256,bool,string,uint256', 1n, true, 'x', 2n)).toBe(
      '1 true x 2',
    )
  })

  it.each([
    ['%s has %d', ['Ann', 3n, 4n], 'Ann has 3 4'],
    ['%d', [2n ** 255n], `${2n ** 255n}`],
    ['%x of 100%%', [255n], '0xff of 100%'],
    ['%s %s', ['one'], 'one %s'],
    ['100%', ['x'], '100% x'],
  ])('fills in %j', (text, values, line) => {
    const types = ['string', ...values.map((value) => (typeof value === 'bigint' ? 'uint256' : 'string'))]
    expect(printed(types.join(','), text, ...values)).toBe(line)
  })

  it('shows payloads of another form in hex', () => {
    expect(consoleText(fromHex('0x12345678'), codec)).toBe('0x12345678')
    expect(consoleText(new Uint8Array(0), codec)).toBe('0x')
    const cut = fromHex(new Interface(['function log(string)']).encodeFunctionData('log', ['a'])).subarray(
      0,
      40,
    )
    expect(consoleText(cut, codec)).toMatch(/^0x41304fac0+/)
  })
})
