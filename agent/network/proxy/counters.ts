// What has passed a served port, for those who are shown it.

export type Counters = {
	/** Connections, and flows of UDP, that reached an endpoint; and those of them that are there now. */
	connections: number;
	open: number;
	/** Clients that were turned away: no endpoint there, none reached, or too many of them at once. */
	refused: number;
	/** Endpoints that a client was to get and that could not be reached. */
	failed: number;
	/** From clients, and to them. */
	bytesIn: number;
	bytesOut: number;
};

export const noCounts = (): Counters => ({connections: 0, open: 0, refused: 0, failed: 0, bytesIn: 0, bytesOut: 0});
