// What the doors need to know of logins, beyond who has one. The composition root hands it in, once per term.

import type {OutsideUrl} from '../system/links/outside-url.js';
import type {Tokens} from './tokens.js';

/** What the term that is on knows of logins. */
export type Access = {
	readonly tokens: Tokens;
	/** PEM. */
	readonly ca: string;
	/** `https://host:port` of every server. */
	readonly servers: () => readonly string[];
	/** An external broker, where there is one; its password goes no further than into a hash. */
	readonly broker: OutsideUrl | undefined;
	/** Whether a node of that name lives in the control plane's own process. */
	readonly isOwnNode: (name: string) => boolean;
	/** Ends the connections of a login. */
	readonly cut: (login: string) => void;
};
