/** What a test file does before its first test: imports the package and makes a node in memory. */
import { createNode } from '../../dist/index.js'

await createNode()
process.exit()
