/** The selectors of code, and the names of widespread ones; both against ethers and compiled contracts. */
import { Interface, id } from 'ethers'
import { expect, it } from 'vitest'
import { KNOWN_SIGNATURES, knownSignature, selectorsOf } from '../../src/ui/selectors.ts'
import { artifact } from '../support/contracts.ts'

it('every name in the table has its selector', () => {
  for (const [selector, signature] of KNOWN_SIGNATURES)
    expect(id(signature).slice(0, 10), signature).toBe(selector)
  expect(knownSignature('0xa9059cbb')).toBe('transfer(address,uint256)')
  expect(knownSignature('0x00000000')).toBeUndefined()
})

it.each(['Token', 'Probe', 'Shop'] as const)('finds all functions in the code of %s', (name) => {
  const { abi, bytecode } = artifact(name)
  const functions = new Interface(abi).fragments.flatMap((fragment) =>
    fragment.type === 'function' ? [(fragment as unknown as { selector: string }).selector] : [],
  )
  expect(selectorsOf(bytecode)).toEqual(expect.arrayContaining(functions))
})

it('finds none in code without a dispatcher, and skips truncated constants', () => {
  expect(selectorsOf('0x')).toEqual([])
  expect(selectorsOf('0x6000356020526080')).toEqual([])
  expect(selectorsOf('0x63a9059c')).toEqual([])
})
