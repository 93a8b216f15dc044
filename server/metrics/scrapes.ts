// Answers to scrapers. Who asks while one is made gets the same: however many ask at once, each is collected once at a time.

import {gauge, type Metric} from '../../api/metrics.js';
import type {ControlMetrics} from './control-metrics.js';

export type Scrapes = {
	/** Of this server. */
	readonly ofServer: () => Promise<string>;
	/** Of a node; undefined: there is none of that name, or this server does not lead. Rejects with an AppError where it does not answer. */
	readonly ofNode: (node: string) => Promise<string> | undefined;
};

export type ScrapesOptions = {
	/** Of the term that is on; undefined: this server does not lead. */
	readonly term: () => ControlMetrics | undefined;
	readonly version: string;
	/** Texts of these metrics, with those of the process or alone. */
	readonly ofProcess: (metrics: readonly Metric[]) => Promise<string>;
	readonly of: (metrics: readonly Metric[]) => Promise<string>;
};

export function createScrapes({term, version, ofProcess, of}: ScrapesOptions): Scrapes {
	const made = new Map<string, Promise<string>>();
	const shared = (name: string, make: () => Promise<string>): Promise<string> => {
		const making = made.get(name) ?? make().finally(() => made.delete(name));
		made.set(name, making);
		return making;
	};
	return {
		ofServer: () =>
			shared('', async () => {
				const ofTerm = term();
				const own = [
					gauge('troupe_build_info', 'The version of the program.', [{labels: {version}, value: 1}]),
					gauge('troupe_leader', 'Whether this server leads.', [{value: Number(ofTerm !== undefined)}]),
				];
				return ofProcess([...own, ...((await ofTerm?.ofCluster()) ?? [])]);
			}),
		ofNode(node) {
			const making = made.get(node);
			if (making !== undefined) return making;
			const metrics = term()?.ofNode(node);
			return metrics && shared(node, async () => of(await metrics));
		},
	};
}
