/** What the explorer takes from the wire: checks of types, and what a page says of an answer of another type. */
import { describe, expect, it } from 'vitest'
import {
  type Check,
  either,
  isFlag,
  isNumber,
  isObject,
  isOneOf,
  isText,
  listOf,
  objectOf,
  orNull,
  recordOf,
} from '../../src/ui/checks.ts'
import { isHex } from '../../src/ui/format.ts'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

describe('a check', () => {
  const isPair = objectOf({ hash: isHex }, { name: isText })
  it.each<[string, Check<unknown>, unknown, boolean]>([
    ['a text', isText, '', true],
    ['a number as a text', isText, 1, false],
    ['a number', isNumber, 0, true],
    ['a flag', isFlag, false, true],
    ['null as a flag', isFlag, null, false],
    ['hex', isHex, '0x', true],
    ['a text as hex', isHex, 'x', false],
    ['an object', isObject, {}, true],
    ['null as an object', isObject, null, false],
    ['a list as an object', isObject, [], false],
    ['one of two texts', isOneOf('a', 'b'), 'b', true],
    ['neither of them', isOneOf('a', 'b'), 'c', false],
    ['null where it may be', orNull(isText), null, true],
    ['a missing value where null is allowed', orNull(isText), undefined, false],
    ['the second of two types', either(isText, isNumber), 1, true],
    ['a list', listOf(isText), ['a', 'b'], true],
    ['a list with another value', listOf(isText), ['a', 1], false],
    ['an object as a list', listOf(isText), { length: 0 }, false],
    ['a record', recordOf(isHex, isNumber), { '0x1': 1 }, true],
    ['a record with another key', recordOf(isHex, isNumber), { a: 1 }, false],
    ['a record with another value', recordOf(isHex, isNumber), { '0x1': '1' }, false],
    ['members, and additional ones', isPair, { hash: '0x1', more: 1 }, true],
    ['all members', isPair, { hash: '0x1', name: 'a' }, true],
    ['a member of another type', isPair, { hash: 1 }, false],
    ['a possible member of another type', isPair, { hash: '0x1', name: null }, false],
    ['no members', isPair, {}, false],
  ])('of %s', (_, check, value, holds) => {
    expect(check(value)).toBe(holds)
  })
})

describeWith(CHROMIUM, 'an answer of the wrong type', () => {
  const open = useExplorer()

  it('is reported in place of the page content when it fails', async () => {
    const { page, goTo } = await open()
    await page.getByTitle('Connected').waitFor()
    await page.route('**', async (route) => {
      const request = route.request().postData() ?? ''
      if (!request.includes('"evm_snapshots"')) return route.continue()
      const { id } = JSON.parse(request)
      return route.fulfill({ json: { jsonrpc: '2.0', id, result: [{ id: '0x1', name: 7 }] } })
    })
    await goTo('#/snapshots')
    await page.getByText('The node gave an answer to evm_snapshots that this page cannot read').waitFor()
  })
})
