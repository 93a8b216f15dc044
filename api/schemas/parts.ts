// The few words that every schema is built from. Schemas are JSON Schema made with typebox; they say which fields there are,
// their types and ranges. What a text must look like, and what fields mean together, is in `api/rules`.
//
// Nothing at run time imports this folder: `cli/prepare/compile-validators.ts` turns it into code after each build.

import Type, {type Static, type TProperties, type TSchema} from 'typebox';

/** Further knowledge for `api/schema-problems.ts`, which words what a validator finds. */
export type Annotations = {
	/** Kubernetes has these fields here; this version does not know them. */
	readonly 'x-not-yet'?: readonly string[];
	/** The value may be a secret: never repeated in a message. */
	readonly 'x-private'?: boolean;
	/** A number is a file's mode. */
	readonly 'x-mode'?: boolean;
	readonly description?: string;
	/** How a strategic merge patch changes the field, where it does not replace a list or merge an object. */
	readonly 'x-kubernetes-patch-strategy'?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';
	/** The field that tells the items of a merged list apart. */
	readonly 'x-kubernetes-patch-merge-key'?: string;
};

/** An object that has these fields and no others. */
export const record = <Properties extends TProperties>(properties: Properties, annotations: Annotations = {}) =>
	Type.Object(properties, {additionalProperties: false, ...annotations});

/** A schema with what `explain` says of the field. */
export function about<Schema extends TSchema>(words: string, schema: Schema): Schema {
	return Object.assign(schema, {description: words});
}

export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
export const list = <Schema extends TSchema>(items: Schema, annotations: Annotations = {}) => Type.Array(items, annotations);
/** At least one. */
export const someOf = <Schema extends TSchema>(items: Schema, annotations: Annotations = {}) =>
	Type.Array(items, {minItems: 1, ...annotations});
/** What Kubernetes' types say of lists: items are told apart by a field; plain values are a set. */
export const mergedBy = (key: string) => ({'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': key}) as const;
export const mergedAsSet = {'x-kubernetes-patch-strategy': 'merge'} as const;
export const text = (annotations: Annotations = {}) => Type.String(annotations);
export const flag = () => Type.Boolean();
export const whole = (minimum: number, maximum: number) => Type.Integer({minimum, maximum});

/** One of a few words. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
	Type.Unsafe<Words[number]>({type: 'string', enum: [...words]});

/** Any keys, values of one type. */
export const mapOf = <Schema extends TSchema>(values: Schema, annotations: Annotations = {}) =>
	Type.Unsafe<{readonly [key: string]: Static<Schema>}>({type: 'object', additionalProperties: values, ...annotations});

/** What a function of this folder describes, as a type: never changed in place. */
export type ShapeOf<Schema extends () => TSchema> = DeepReadonly<Static<ReturnType<Schema>>>;

type DeepReadonly<T> = T extends readonly (infer Item)[]
	? readonly DeepReadonly<Item>[]
	: T extends object
		? {readonly [Key in keyof T]: DeepReadonly<T[Key]>}
		: T;

/** A schema of `definitions` by its name: the validators share one function for it. */
export const shared = <Schema extends () => TSchema>(name: DefinitionName) => Type.Unsafe<Static<ReturnType<Schema>>>({$ref: name});
export type DefinitionName =
	'Condition' | 'Container' | 'ContainerStatus' | 'LabelSelector' | 'LifecycleHandler' | 'Metadata' | 'PodSpec' | 'Probe';

/** Any value, null too. */
export const anyJson = () => Type.Unknown();

/** An object nothing looks into. */
export const anyObject = () => Type.Unsafe<{readonly [key: string]: unknown}>({type: 'object'});

/** The port of a container by number or by name. */
export const portNumberOrName = () => Type.Unsafe<number | string>({type: ['integer', 'string']});
/** A quantity is a number or its text; its syntax is a rule. */
export const quantity = () => Type.Unsafe<number | string>({type: ['number', 'string']});

/** Permissions of a file. */
export const fileMode = () => Type.Integer({minimum: 0, maximum: 0o777, 'x-mode': true});

export const maxInt32 = 2_147_483_647;
export const port = () => whole(1, 65_535);
export const protocol = () => oneOf(['TCP', 'UDP', 'SCTP']);
export const count = () => whole(0, maxInt32);
/** A number, or a part in percent; which one is a rule. */
export const countOrPercent = () => Type.Unsafe<number | string>({type: ['integer', 'string']});
export const seconds = (minimum = 0) => whole(minimum, maxInt32);

export const labels = () => mapOf(text());

export const labelSelector = () =>
	record({
		matchLabels: optional(about('Labels that must be there, with these values.', labels())),
		matchExpressions: optional(
			about(
				'Further demands; all must hold.',
				list(
					record({
						key: about('The label.', text()),
						operator: about('In, NotIn, Exists or DoesNotExist.', oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'])),
						values: optional(about('Of In and NotIn.', list(text()))),
					}),
				),
			),
		),
	});

export const ownerReference = () =>
	record({
		apiVersion: about('Of the owner.', text()),
		kind: about('Of the owner.', text()),
		name: about('Of the owner.', text()),
		uid: about('Of the owner.', text()),
		controller: optional(about('Whether the owner looks after it.', flag())),
		blockOwnerDeletion: optional(about('Whether an owner that is deleted waits for it.', flag())),
	});

export const selector = (annotations: Annotations = {}) => Object.assign(shared<typeof labelSelector>('LabelSelector'), annotations);

export const conditionFields = () => ({
	type: about('What it is about.', text()),
	status: about('Whether it holds: True, False or Unknown.', oneOf(['True', 'False', 'Unknown'])),
	reason: optional(about('Why, in one word.', text())),
	message: optional(about('The same in a sentence.', text())),
	lastTransitionTime: optional(about('Since when.', text())),
});

export const condition = () => record(conditionFields());
export const conditions = () => list(shared<typeof condition>('Condition'), mergedBy('type'));

/** The status of a kind that says no more than that it was looked at. */
export const observed = () => record({observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER)), conditions: optional(conditions())});

/**
 * `true` where two types have the same fields with the same types, the same of them optional, and else nothing: `const same: Same<A, B> = true`
 * compiles only if they do. Shapes that are written by hand are held to their schemas by it; which fields are readonly does not count.
 */
export type Same<A, B> = [Compared<A>] extends [Compared<B>] ? ([Compared<B>] extends [Compared<A>] ? true : never) : never;

/** Every field is there, with a word on whether it may be left out: an optional one could stand for a required one, or be missing. */
type Compared<T> = T extends readonly (infer Item)[]
	? readonly Compared<Item>[]
	: T extends object
		? {
				readonly [Key in keyof T]-?: [
					Compared<Exclude<T[Key], undefined>>,
					Record<never, never> extends Pick<T, Key> ? 'optional' : 'required',
				];
			}
		: T;
