//! The macro that declares kernels.

#[doc = include_str!("kernels.md")]
#[macro_export]
macro_rules! kernels {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$ctx:lifetime>;
        extern $($source:tt)*
    ) => {
        $crate::__header! { [$(#[$meta])* $vis] [$name $ctx] [] $($source)* }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$ctx:lifetime>;
        $promise:ident extern $($source:tt)*
    ) => {
        $crate::__header! { [$(#[$meta])* $vis] [$name $ctx] [$promise] $($source)* }
    };
}

/// Where the text of a header comes from.
#[doc(hidden)]
#[macro_export]
macro_rules! __header {
    (
        $head:tt $name:tt $promise:tt
        $file:literal $(with $binary:ident($image:expr))? { $($body:tt)* }
    ) => {
        $crate::__declare! {
            $head $name $promise [include_str!($file)] [$file] [$($binary $image)?] $($body)*
        }
    };
    (
        $head:tt $name:tt $promise:tt
        include_ptx!($path:expr) $(with $binary:ident($image:expr))? { $($body:tt)* }
    ) => {
        $crate::__declare! {
            $head $name $promise [include_str!($path)] ["the PTX"] [$($binary $image)?] $($body)*
        }
    };
    (
        $head:tt $name:tt $promise:tt
        ptx!($text:expr) $(with $binary:ident($image:expr))? { $($body:tt)* }
    ) => {
        $crate::__declare! {
            $head $name $promise [$text] ["the PTX"] [$($binary $image)?] $($body)*
        }
    };
}

/// The struct, the comparisons and the methods.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    (
        [$(#[$meta:meta])* $vis:vis] [$name:ident $ctx:lifetime]
        $promise:tt [$text:expr] [$file:expr] $binary:tt
        $(
            $(#[$doc:meta])*
            $(unsafe fn $($unsafe_symbol:literal as)? $unsafe:ident $unsafe_list:tt)?
            $(
                safe fn $($safe_symbol:literal as)? $safe:ident $safe_list:tt
                when $(|$config:ident|)? { $($when:tt)* }
            )?
            $(static $($variable_symbol:literal as)? $variable:ident: $type:ty)?
            ;
        )*
    ) => {
        $(#[$meta])*
        $vis struct $name<$ctx> {
            __loaded: $crate::kernel::declared::Loaded<
                $ctx, <$name<$ctx> as $crate::kernel::declared::Header>::Kernels,
            >,
        }

        #[allow(
            missing_docs, non_camel_case_types, non_upper_case_globals, non_local_definitions,
            dead_code, unreachable_pub, clippy::too_many_arguments,
        )]
        // Its name is in messages.
        const $name: () = {
            use $crate::kernel::declared::PlainData as _;

            struct __Text;
            impl $crate::kernel::ConstText for __Text {
                const TEXT: &'static str = $text;
            }
            const _: () = $crate::kernel::declared::check_text::<__Text>($file);

            $(
                $($crate::__kernel! { $file, [$($unsafe_symbol)?] $unsafe $unsafe_list })?
                $($crate::__kernel! { $file, [$($safe_symbol)?] $safe $safe_list })?
                $($crate::__variable! { $file, [$($variable_symbol)?] $variable: $type })?
            )*

            type __Beside = $crate::__beside!($($($variable)?)*);

            /// The kernels of the header.
            pub struct __Kernels<$ctx> {
                $(
                    $(pub $unsafe: $crate::Kernel<$ctx, $crate::__list!($unsafe_list)>,)?
                    $(
                        pub $safe: $crate::SafeKernel<
                            $ctx, $crate::__list!($safe_list), __Beside,
                        >,
                    )?
                )*
                __context: $crate::Context<$ctx>,
            }

            impl<$ctx> $crate::kernel::declared::Header for $name<$ctx> {
                type Kernels = __Kernels<$ctx>;
            }

            impl<$ctx> $name<$ctx> {
                /// Loads the file, and looks up what is declared of it.
                ///
                /// # Errors
                /// As `Context::load_ptx`, `Module::kernel` and `Module::global`.
                pub fn load(context: $crate::Context<$ctx>) -> $crate::Result<Self> {
                    Self::load_with(context, &$crate::JitOptions::default())
                }

                /// `load` with options for the compiler of the driver.
                ///
                /// # Errors
                /// As `load`.
                pub fn load_with(
                    context: $crate::Context<$ctx>,
                    options: &$crate::JitOptions,
                ) -> $crate::Result<Self> {
                    let module = $crate::__load!(
                        $promise $binary context, $crate::Ptx::of::<__Text>(), options
                    )?;
                    let kernels = __Kernels {
                        $(
                            $($unsafe: module.kernel($unsafe::FOUND.symbol::<__Text>())?,)?
                            $(
                                $safe: $crate::__safe!(
                                    $promise module $safe $safe_list [$($config)?] $($when)*
                                ),
                            )?
                        )*
                        __context: context,
                    };
                    let variables = [
                        $($(
                            $crate::kernel::declared::VariableType::of::<$type>(
                                stringify!($variable), $variable::FOUND.symbol::<__Text>(),
                            ),
                        )?)*
                    ];
                    let loaded = $crate::kernel::declared::Loaded::new(module, kernels, &variables);
                    Ok(Self { __loaded: loaded? })
                }

                /// The module that was loaded.
                pub fn module(&self) -> &$crate::Module<$ctx> {
                    self.__loaded.module()
                }

                /// The kernels with their types: for their attributes, their occupancy and graphs.
                pub fn kernels(&self) -> &__Kernels<$ctx> {
                    self.__loaded.kernels()
                }

                $(
                    $crate::__method! {
                        $ctx [$(#[$doc])*]
                        $(unsafe $unsafe $unsafe_list)?
                        $(safe $safe $safe_list)?
                        $(static $variable: $type)?
                    }
                )*
            }

            $crate::__variables_mut! { $name $ctx $($($variable: $type,)?)* }
        };
    };
}

/// The types of a list of parameters, as a tuple.
#[doc(hidden)]
#[macro_export]
macro_rules! __list {
    (($($parameter:ident: $type:ty),* $(,)?)) => { ($($type,)*) };
}

/// What a kernel has of the variables of its header.
#[doc(hidden)]
#[macro_export]
macro_rules! __beside {
    () => {
        ()
    };
    ($($variable:ident)+) => {
        $crate::kernel::declared::Beside
    };
}

/// The name of a kernel or of a variable in the PTX, or a pattern for it.
#[doc(hidden)]
#[macro_export]
macro_rules! __pattern {
    ([] $name:ident) => {
        stringify!($name)
    };
    ([$pattern:literal] $name:ident) => {
        $pattern
    };
}

/// Finds a kernel in the PTX, and compares its parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    ($file:expr, $pattern:tt $kernel:ident ($($parameter:ident: $type:ty),* $(,)?)) => {
        struct $kernel {}

        impl $kernel {
            const FOUND: $crate::kernel::declared::FoundKernel =
                $crate::kernel::declared::FoundKernel::find::<__Text>(
                    $crate::__pattern!($pattern $kernel),
                    <($($type,)*) as $crate::kernel::Params>::LAYOUT,
                    &[$($crate::kernel::declared::Plain::<$type>::KIND),*],
                );
        }

        const _: () = {
            struct __Fits { $($parameter: u64),* }

            const FITS: __Fits = {
                let [$($parameter,)* ..] = $kernel::FOUND.fits;
                __Fits { $($parameter),* }
            };

            // The names are parameters of a function, so that messages have them as they are.
            const fn __compare<$($parameter),*>() {
                $(
                    $crate::kernel::declared::takes::<
                        $type, $kernel, $parameter,
                        $crate::kernel::declared::Found<
                            { (FITS.$parameter >> 32) as u32 },
                            { FITS.$parameter as u32 },
                        >,
                    >();
                )*
            }

            $kernel::FOUND.check::<__Text>($file, $crate::__pattern!($pattern $kernel))
        };
    };
}

/// Finds a variable in the PTX, and compares its type.
#[doc(hidden)]
#[macro_export]
macro_rules! __variable {
    ($file:expr, $pattern:tt $variable:ident: $type:ty) => {
        struct $variable {}

        impl $variable {
            const FOUND: $crate::kernel::declared::FoundVariable =
                $crate::kernel::declared::FoundVariable::find::<__Text, $type>(
                    $crate::__pattern!($pattern $variable),
                    $crate::kernel::declared::Plain::<$type>::ELEMENT,
                );
        }

        const _: () =
    $variable::FOUND.check::<__Text>($file, $crate::__pattern!($pattern $variable));

        const _: () = {
            const FIT: u64 = $variable::FOUND.fit;

            $crate::kernel::declared::holds::<
                $type,
                $variable,
                $crate::kernel::declared::Found<{ (FIT >> 32) as u32 }, { FIT as u32 }>,
            >();
        };
    };
}

/// Loads the PTX, or the binary beside it.
#[doc(hidden)]
#[macro_export]
macro_rules! __load {
    ($promise:tt [] $context:expr, $ptx:expr, $options:expr) => {
        $context.load_ptx_with($ptx, $options)
    };
    ([$promise:ident] [$binary:ident $image:expr] $context:expr, $ptx:expr, $options:expr) => {{
        const IMAGE: &[u8] = include_bytes!($image);
        let ptx = $ptx;
        // SAFETY: the promise of the `unsafe extern` of the header.
        $promise { $crate::kernel::declared::$binary($context, IMAGE, ptx, $options) }
    }};
    ([] [$binary:ident $image:expr] $($load:tt)*) => {
        compile_error!(concat!(
            "`with ", stringify!($binary), "` promises that the PTX was compiled to the file: \
             write `unsafe extern`, with a SAFETY comment"
        ))
    };
}

/// Looks up a kernel whose launch is safe when its preconditions hold.
#[doc(hidden)]
#[macro_export]
macro_rules! __safe {
    ([] $module:ident $kernel:ident $($rest:tt)*) => {
        compile_error!(concat!(
            "`safe fn ", stringify!($kernel), "` promises that its launches are safe when what \
             follows holds: write `unsafe extern`, with a SAFETY comment"
        ))
    };
    (
        [$promise:ident] $module:ident $kernel:ident $list:tt $config:tt
        $($sentence:literal: $holds:expr),* $(,)?
    ) => {{
        let kernel = $module
            .kernel::<$crate::__list!($list)>($kernel::FOUND.symbol::<__Text>())?;
        let preconditions = $crate::kernel::declared::preconditions(
            &kernel,
            [$(($sentence, $crate::__precondition!($config $list $holds))),*],
        );
        // SAFETY: the promise of the `unsafe extern` of the header.
        $promise { kernel.assert_safe_when_reading(__Beside::default(), preconditions) }
    }};
}

/// A precondition as a function.
#[doc(hidden)]
#[macro_export]
macro_rules! __precondition {
    ([] ($($parameter:ident: $type:ty),* $(,)?) $holds:expr) => {
        |_, ($($parameter,)*)| $holds
    };
    ([$config:ident] ($($parameter:ident: $type:ty),* $(,)?) $holds:expr) => {
        |$config, ($($parameter,)*)| $holds
    };
}

/// The method that launches a kernel, or reads a variable.
#[doc(hidden)]
#[macro_export]
macro_rules! __method {
    ($ctx:lifetime []) => {};
    ($ctx:lifetime [$(#[$doc:meta])*] static $variable:ident: $type:ty) => {
        $(#[$doc])*
        pub fn $variable(&self) -> $crate::kernel::declared::Variable<'_, $ctx, $type> {
            self.__loaded.variable(stringify!($variable))
        }
    };
    (
        $ctx:lifetime [$(#[$doc:meta])*]
        unsafe $kernel:ident ($($parameter:ident: $type:ty),* $(,)?)
    ) => {
        $(#[$doc])*
        ///
        /// Launches the kernel on a stream (`cuLaunchKernelEx`).
        ///
        /// # Errors
        /// As `ScopedStream::launch`.
        ///
        /// # Safety
        /// As `ScopedStream::launch`.
        #[inline]
        pub unsafe fn $kernel<'s, 'scope>(
            &'scope self,
            stream: $crate::ScopedStream<'s, 'scope, $ctx>,
            config: $crate::LaunchConfig,
            $($parameter: impl $crate::kernel::Arg<'s, 'scope, $ctx, $type>,)*
        ) -> $crate::Result<()> {
            // SAFETY: the caller's promise.
            unsafe { stream.launch(&self.kernels().$kernel, config, ($($parameter,)*)) }
        }
    };
    (
        $ctx:lifetime [$(#[$doc:meta])*]
        safe $kernel:ident ($($parameter:ident: $type:ty),* $(,)?)
    ) => {
        $(#[$doc])*
        ///
        /// Launches the kernel on a stream (`cuLaunchKernelEx`), if its preconditions hold.
        ///
        /// # Errors
        /// As `SafeKernel::launch`.
        #[inline]
        pub fn $kernel<'s, 'scope>(
            &'scope self,
            stream: $crate::ScopedStream<'s, 'scope, $ctx>,
            config: $crate::LaunchConfig,
            $($parameter: impl $crate::kernel::Arg<'s, 'scope, $ctx, $type>,)*
        ) -> $crate::Result<()> {
            self.kernels().$kernel.launch(stream, config, ($($parameter,)*))
        }
    };
}

/// The variables of a header, to write.
#[doc(hidden)]
#[macro_export]
macro_rules! __variables_mut {
    ($name:ident $ctx:lifetime) => {};
    ($name:ident $ctx:lifetime $($variable:ident: $type:ty,)+) => {
        /// The variables of the header, to write.
        pub struct __Variables<'a, $ctx> {
            $(pub $variable: $crate::kernel::declared::VariableMut<'a, $ctx, $type>,)+
        }

        impl<$ctx> $name<$ctx> {
            /// The variables, to write: at rest, because a launch borrows them until its scope has
            /// waited.
            pub fn variables_mut(&mut self) -> __Variables<'_, $ctx> {
                let mut variables = self.__loaded.variables_mut();
                __Variables {
                    $($variable: variables.take_next(),)+
                }
            }
        }
    };
}
