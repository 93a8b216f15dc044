// Where the cluster of a connection that was lost is now: it may have begun anew on other ports, or another cluster may stand in its place.

import type {BrokerLogin} from '../cluster/broker-login.js';

export type FoundCluster = {
	readonly broker: BrokerLogin;
	/** What people call it, by the URL of the broker that is spoken with. */
	readonly aboutOf: (url: string) => string;
};

export type SearchOptions = {
	/** Asks the kubeconfig and the API. Rejects while there is nothing to find. */
	readonly findAgain: () => Promise<FoundCluster>;
	/** The cluster is at the addresses of `found` now. */
	readonly onMoved: () => void;
	/** Another token, or another authority, is another cluster: that one is not gone to unasked. Called once for each loss. */
	readonly onOther: () => void;
};

export class ClusterSearch {
	readonly #options: SearchOptions;
	#found: FoundCluster;
	#isLooking = false;
	#isOtherTold = false;
	#isConnected = true;

	constructor(found: FoundCluster, options: SearchOptions) {
		this.#found = found;
		this.#options = options;
	}

	/** As it was found last. */
	get found(): FoundCluster {
		return this.#found;
	}

	/** The connection is there again: what is found from now on is no news. */
	connected(): void {
		this.#isConnected = true;
		this.#isOtherTold = false;
	}

	/** An attempt to connect again failed. One look at a time; never rejects. */
	async lookAgain(): Promise<void> {
		this.#isConnected = false;
		if (this.#isLooking) return;
		this.#isLooking = true;
		const again = await this.#options.findAgain().catch(() => undefined);
		this.#isLooking = false;
		if (again !== undefined && !this.#isConnected) this.#compare(again);
	}

	#compare(again: FoundCluster): void {
		const {broker} = this.#found;
		if (again.broker.password !== broker.password || again.broker.ca !== broker.ca) {
			if (!this.#isOtherTold) this.#options.onOther();
			this.#isOtherTold = true;
		} else if (again.broker.urls.join() !== broker.urls.join()) {
			this.#found = again;
			this.#options.onMoved();
		}
	}
}
