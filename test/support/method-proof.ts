/**
 * Set up before every test file: each method that is made, for whatever node or dispatcher, holds what it answers to
 * its own description. A result that is not of its schema, or a refusal that it does not name, fails the test that asked.
 */
import { afterEach, expect, vi } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { OF_ANY_CALL } from '../../src/rpc/error-meanings.ts'

const broken: string[] = []

/** What was answered in this test against a description; taken, it no longer fails the test. */
export function takeBroken(): string[] {
  return broken.splice(0)
}

vi.mock(import('../../src/rpc/method.ts'), async (original) => {
  const actual = await original()
  return {
    ...actual,
    method(definition) {
      const made = actual.method(definition)
      const hold = (result: unknown): unknown => {
        // What a caller reads is JSON, which knows no undefined members.
        const { error } = made.result.safeParse(result === undefined ? null : result)
        if (error !== undefined)
          broken.push(`${made.name} answers what it does not describe: ${error.message}`)
        return result
      }
      const allowed = new Set<string>([...OF_ANY_CALL, ...made.errors])
      const refuse = (error: unknown): never => {
        if (error instanceof NodeError && !allowed.has(error.kind)) {
          broken.push(`${made.name} refuses with ${error.kind}, which it does not describe`)
        }
        throw error
      }
      return {
        ...made,
        call(params, context) {
          try {
            const outcome = made.call(params, context)
            return outcome instanceof Promise ? outcome.then(hold, refuse) : hold(outcome)
          } catch (error) {
            return refuse(error)
          }
        },
      }
    },
  }
})

afterEach(() => {
  expect(takeBroken()).toEqual([])
})
