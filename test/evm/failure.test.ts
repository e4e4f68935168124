import { EVMError } from '@ethereumjs/evm'
import { expect, it } from 'vitest'
import { FAILURE } from '../../src/evm/frame.ts'

it("names each failure as the library does, in the library's words", () => {
  expect(EVMError.errorMessages).toMatchObject(FAILURE)
})
