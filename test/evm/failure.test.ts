import { EVMError } from '@ethereumjs/evm'
import { expect, it } from 'vitest'
import { FAILURE } from '../../src/evm/failure.ts'

it('has the message of the library for each failure', () => {
  expect(EVMError.errorMessages).toMatchObject(FAILURE)
})
