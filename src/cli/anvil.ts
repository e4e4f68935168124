#!/usr/bin/env node
/** The `tandem-anvil` command, and `anvil` in the container image: `tandem anvil` under a name of its own. */
process.argv.splice(2, 0, 'anvil')
await import('./main.ts')
