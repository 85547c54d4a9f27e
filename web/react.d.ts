// What `waybridge/react` uses of React, so that checking and packing it needs no package. Projects have the types of `@types/react`.
export type ReactNode = unknown;
export interface ReactElement {
  type: unknown;
  props: unknown;
  key: string | number | null;
}
export interface Context<Value> {
  Provider: (props: { value: Value; children?: ReactNode }) => ReactElement;
}
type Effect = () => void | (() => void);
export function createContext<Value>(value: Value): Context<Value>;
export function createElement(type: unknown, props?: object | null, ...children: ReactNode[]): ReactElement;
export function useCallback<Body>(body: Body, inputs: readonly unknown[]): Body;
export function useContext<Value>(context: Context<Value>): Value;
export function useEffect(effect: Effect, inputs?: readonly unknown[]): void;
export function useInsertionEffect(effect: Effect, inputs?: readonly unknown[]): void;
export function useMemo<Value>(create: () => Value, inputs: readonly unknown[]): Value;
export function useRef<Value>(value: Value): { current: Value };
export function useState<Value>(create: () => Value): [Value, (value: Value) => void];
export function useSyncExternalStore<Value>(subscribe: (changed: () => void) => () => void, get: () => Value, getOnServer?: () => Value): Value;
