// What is told while an image is brought to a node: one object of JSON a line, the same words at the node that says them and at the command that
// reads them. What went wrong is no news: it is written to the other output, for people.

export type ImageNews =
	/** What the Engine wrote, lines of its own: of a build. */
	| {readonly said: string}
	| {readonly progress: ImageProgress}
	/** It is there, under this name. */
	| {readonly image: string; readonly id: string; readonly bytes: number};

export type ImageProgress = {readonly bytes: number; readonly totalBytes?: number | undefined; readonly percent?: number | undefined};

/** What is asked for beside a folder when an image is built of it. */
export type ImageBuild = {
	/** The name that it gets. */
	readonly tag: string;
	/** Within the folder. */
	readonly dockerfile: string;
	/** The stage that is wanted; undefined: the last. */
	readonly target?: string | undefined;
	readonly args: Readonly<Record<string, string>>;
	readonly labels: Readonly<Record<string, string>>;
	/** Its programs have no network. */
	readonly isOffline?: boolean;
	/** Every step is run again. */
	readonly noCache?: boolean;
	/** What it is made from is asked of the registry, also where it is there. */
	readonly pulls?: boolean;
};

/** On an image that was built for a compose file: what it was built from, and how. */
export const buildLabel = 'troupe.dev/build';
