// What ends a connection of SPDY: it is thrown by what reads, and caught where the connection is served.

/** What came is no SPDY/3.1, or more of it than is taken: the connection cannot be gone on with. */
export class SpdyError extends Error {}
