import { expect, it } from 'vitest'
import { SETTINGS } from '../../src/cli/settings.ts'
import { OPTION_GROUPS } from '../../src/options/groups.ts'

it('has each setting in one group of the help', () => {
  const grouped = OPTION_GROUPS.flatMap(({ keys }) => keys)
  expect(grouped.toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
})
