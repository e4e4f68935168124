/**
 * The values of `node:http`. An `import` of that module reads each of its exports, and the getter of `WebSocket` loads
 * undici, of which a start in Node 22 and later takes 30 ms of processor time and a node needs nothing.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
