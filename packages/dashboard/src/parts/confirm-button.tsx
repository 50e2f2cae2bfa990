import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly sure: string;
  readonly onConfirm: () => void;
  readonly disabled?: boolean;
}

/** A second press within a few seconds means it. */
export function ConfirmButton({ label, sure, onConfirm, disabled = false }: Props) {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), 5_000);
    return () => clearTimeout(timer);
  }, [armed]);
  return (
    <button
      type="button"
      class="grave"
      disabled={disabled}
      onClick={() => {
        if (armed) onConfirm();
        setArmed(!armed);
      }}
    >
      {armed ? sure : label}
    </button>
  );
}
